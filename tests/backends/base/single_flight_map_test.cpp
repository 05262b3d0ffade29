#include "backends/base/single_flight_map.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <latch>
#include <string>

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

}  // namespace
}  // namespace modlock
