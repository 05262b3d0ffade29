#include "backends/base/context.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(context_test)

BOOST_AUTO_TEST_CASE(a_run_goes_on_until_told_otherwise) {
  Context context;
  BOOST_TEST(context.check().has_value());
  context.deadline = std::chrono::steady_clock::time_point::max();
  BOOST_TEST(context.check().has_value());
}

BOOST_AUTO_TEST_CASE(a_cancelled_run_ends) {
  std::stop_source stop;
  Context context;
  context.stop = stop.get_token();
  BOOST_TEST(context.check().has_value());
  stop.request_stop();
  const auto checked = context.check();
  BOOST_REQUIRE(!checked.has_value());
  BOOST_TEST(to_string(checked.error().code) == "REQUEST_CANCELLED");
  BOOST_TEST(checked.error().message == "the request was cancelled");
}

BOOST_AUTO_TEST_CASE(a_run_ends_at_its_deadline) {
  Context context;
  context.deadline = std::chrono::steady_clock::time_point::min();
  const auto checked = context.check();
  BOOST_REQUIRE(!checked.has_value());
  BOOST_TEST(to_string(checked.error().code) == "DEADLINE_EXCEEDED");
  BOOST_TEST(checked.error().message == "the deadline of the request has passed");
  BOOST_TEST(checked.error().hint == "allow more time with a larger deadlineMs");
}

BOOST_AUTO_TEST_CASE(cancellation_is_told_before_the_deadline) {
  std::stop_source stop;
  stop.request_stop();
  Context context;
  context.stop = stop.get_token();
  context.deadline = std::chrono::steady_clock::time_point::min();
  BOOST_TEST(to_string(context.check().error().code) == "REQUEST_CANCELLED");
}

BOOST_AUTO_TEST_CASE(costs_are_counted_where_somebody_counts) {
  Context context;
  context.count_request();
  context.count_cache_hit();
  Stats stats;
  context.stats = &stats;
  context.count_request();
  context.count_request();
  context.count_cache_hit();
  BOOST_TEST(stats.requests == 2U);
  BOOST_TEST(stats.cache_hits == 1U);
  BOOST_TEST(stats.bytes == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
