#include "backends/credentials/single_flight_cache.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

using namespace modlock;

namespace {

using Clock = SingleFlightCache<int>::Clock;

// Answers over a clock that is set by hand and counts who looks at it, which is done with the lock held.
struct Clocked {
  std::atomic<int> looks{0};
  Clock::time_point time = {};
  SingleFlightCache<int> answers{[this]() {
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

}  // namespace

BOOST_AUTO_TEST_SUITE(answers)

BOOST_AUTO_TEST_CASE(an_answer_has_its_life) {
  Clocked clocked;
  BOOST_TEST(clocked.ask(1).value() == 1);
  clocked.time += SingleFlightCache<int>::kLife - std::chrono::nanoseconds(1);
  BOOST_TEST(clocked.ask(2).value() == 1);
  clocked.time += std::chrono::nanoseconds(1);
  BOOST_TEST(clocked.ask(3).value() == 3);
  clocked.time += SingleFlightCache<int>::kLife - std::chrono::nanoseconds(1);
  BOOST_TEST(clocked.ask(4).value() == 3);
}

BOOST_AUTO_TEST_CASE(a_failure_has_none) {
  Clocked clocked;
  BOOST_TEST(!clocked.ask(kFailure).has_value());
  BOOST_TEST(clocked.ask(1).value() == 1);
  clocked.time += SingleFlightCache<int>::kLife;
  BOOST_TEST(!clocked.ask(kFailure).has_value());
  BOOST_TEST(clocked.ask(2).value() == 2);
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
