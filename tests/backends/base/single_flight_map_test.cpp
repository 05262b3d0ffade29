#include "backends/base/single_flight_map.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "backends/base/parallel.h"

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(single_flight_map_test)

BOOST_AUTO_TEST_CASE(one_makes_for_all) {
  SingleFlightMap<std::string, int> map;
  std::atomic<int> made = 0;
  std::atomic<int> ones = 0;
  parallel_for(16, 16, [&](std::size_t) {
    const auto value = map.get("key", {}, [&]() -> Result<int> { return ++made; });
    ones += value.value_or(0) == 1 ? 1 : 0;
  });
  BOOST_TEST(ones == 16);
  BOOST_TEST(map.get("other", {}, [&]() -> Result<int> { return ++made; }).value_or(0) == 2);
}

BOOST_AUTO_TEST_CASE(a_failure_is_forgotten) {
  SingleFlightMap<std::string, int> map;
  const auto failed = map.get("key", {}, []() -> Result<int> { return fail(Code::not_found, "gone"); });
  BOOST_REQUIRE(!failed);
  BOOST_TEST(failed.error().message == "gone");
  BOOST_TEST(map.get("key", {}, []() -> Result<int> { return 7; }).value_or(0) == 7);
}

// The one who makes it is stopped while another waits, who then makes it.
BOOST_AUTO_TEST_CASE(a_cancellation_is_the_askers_own) {
  SingleFlightMap<std::string, int> map;
  std::latch begun(1);
  Result<int> first = 0;
  Result<int> second = 0;
  parallel_for(2, 2, [&](std::size_t i) {
    if (i == 0) {
      first = map.get("key", {}, [&]() -> Result<int> {
        begun.count_down();
        return fail(Code::request_cancelled, "stopped");
      });
    } else {
      begun.wait();
      second = map.get("key", {}, []() -> Result<int> { return 7; });
    }
  });
  BOOST_TEST(!first.has_value());
  BOOST_TEST(second.value_or(0) == 7);
}

BOOST_AUTO_TEST_CASE(who_waits_can_be_stopped) {
  SingleFlightMap<std::string, int> map;
  std::latch begun(1);
  std::latch given_up(1);
  Result<int> value = 0;
  parallel_for(2, 2, [&](std::size_t i) {
    if (i == 0) {
      (void)map.get("key", {}, [&]() -> Result<int> {
        begun.count_down();
        given_up.wait();
        return 7;
      });
    } else {
      begun.wait();
      const Context late{.deadline = std::chrono::steady_clock::now()};
      value = map.get("key", late, []() -> Result<int> { return 8; });
      given_up.count_down();
    }
  });
  BOOST_REQUIRE(!value);
  BOOST_TEST((value.error().code == Code::deadline_exceeded));
}

BOOST_AUTO_TEST_SUITE_END()

using Answers = SingleFlightMap<std::string, int>;
using Clock = Answers::Clock;

constexpr std::chrono::seconds kLife{60};

// Answers over a clock that is set by hand and counts who looks at it, which is done with the lock held.
struct Clocked {
  std::atomic<int> looks{0};
  Clock::time_point time = {};
  Answers answers{kLife, [this]() {
                    ++looks;
                    return time;
                  }};

  Result<int> ask(const Result<int>& answer) {
    return answers.get("host", Context{}, [&answer]() { return answer; });
  }
};

const Result<int> kFailure = fail(Code::unreachable, "it fails");

// What 8 callers are told together where the first answer, given once all of them have asked, is `first` and every
// later one 2; and how often it was asked.
struct Told {
  std::atomic<int> asked{0}, ones{0}, twos{0}, failures{0};

  explicit Told(const Result<int>& first) {
    constexpr int kCallers = 8;
    Clocked clocked;
    std::vector<std::thread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([this, &clocked, &first]() {
        const auto told = clocked.answers.get("host", Context{}, [this, &clocked, &first]() -> Result<int> {
          if (++asked > 1) {
            return 2;
          }
          while (clocked.looks < kCallers) {
            std::this_thread::yield();
          }
          return first;
        });
        ++(!told ? failures : *told == 1 ? ones : twos);
      });
    }
    for (std::thread& caller : callers) {
      caller.join();
    }
  }
};

BOOST_AUTO_TEST_SUITE(single_flight_map_life_test)

BOOST_AUTO_TEST_CASE(an_answer_has_its_life) {
  Clocked clocked;
  BOOST_TEST(clocked.ask(1).value() == 1);
  clocked.time += kLife - std::chrono::nanoseconds(1);
  BOOST_TEST(clocked.ask(2).value() == 1);
  clocked.time += std::chrono::nanoseconds(1);
  BOOST_TEST(clocked.ask(3).value() == 3);
  clocked.time += kLife - std::chrono::nanoseconds(1);
  BOOST_TEST(clocked.ask(4).value() == 3);
}

BOOST_AUTO_TEST_CASE(a_failure_has_none) {
  Clocked clocked;
  BOOST_TEST(!clocked.ask(kFailure).has_value());
  BOOST_TEST(clocked.ask(1).value() == 1);
  clocked.time += kLife;
  BOOST_TEST(!clocked.ask(kFailure).has_value());
  BOOST_TEST(clocked.ask(2).value() == 2);
}

BOOST_AUTO_TEST_CASE(a_failure_is_returned_during_its_life_unless_it_concerns_only_its_caller) {
  struct Row {
    const char* name;
    Code code;
    bool is_kept;
  };
  const Row rows[] = {{"of the value", Code::unreachable, true},
                      {"cancelled", Code::request_cancelled, false},
                      {"late", Code::deadline_exceeded, false},
                      {"offline", Code::offline_miss, false},
                      {"with a broken configuration", Code::config_parse, false}};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      SingleFlightMap<std::string, int>::Clock::time_point now = {};
      SingleFlightMap<std::string, int> map(
          kLife, [&now] { return now; }, std::chrono::seconds(10));
      const auto ask = [&](Result<int> made) { return map.get("key", {}, [&] { return made; }); };
      BOOST_TEST(!ask(fail(row.code, "no")).has_value());
      now += std::chrono::seconds(10) - std::chrono::nanoseconds(1);
      BOOST_TEST(ask(7).has_value() != row.is_kept);
      now += std::chrono::nanoseconds(1);
      BOOST_TEST(ask(7).value_or(0) == 7);
      BOOST_TEST(ask(fail(row.code, "no")).value_or(0) == 7);
    }
  }
}

BOOST_AUTO_TEST_CASE(those_who_wait_share_the_answer) {
  const Told told(1);
  BOOST_TEST(told.asked == 1);
  BOOST_TEST(told.ones == 8);
}

BOOST_AUTO_TEST_CASE(those_who_wait_share_the_failure) {
  const Told told(kFailure);
  BOOST_TEST(told.asked == 1);
  BOOST_TEST(told.failures == 8);
}

BOOST_AUTO_TEST_CASE(that_one_was_cancelled_is_told_to_nobody_else) {
  const Told told(fail(Code::request_cancelled, "enough"));
  BOOST_TEST(told.asked == 2);
  BOOST_TEST(told.failures == 1);
  BOOST_TEST(told.twos == 7);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
