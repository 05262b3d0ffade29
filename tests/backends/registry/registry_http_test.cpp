#include "backends/registry/registry_http.h"

#include <boost/test/unit_test.hpp>

namespace modlock::registry {
namespace {

using std::chrono::seconds;

BOOST_AUTO_TEST_SUITE(request_policy_test)

BOOST_AUTO_TEST_CASE(the_environment_wins_over_the_configuration_over_the_defaults) {
  struct Row {
    const char* name;
    const char* retry;
    const char* timeout;
    std::optional<int> retry_count;
    std::optional<seconds> request_timeout;
    int retries;
    std::optional<seconds> result;
  };
  const Row rows[] = {
      {"defaults", "", "", {}, {}, 1, seconds(10)},
      {"environment", "3", "25", {}, {}, 3, seconds(25)},
      {"configuration", "", "", 4, seconds(7), 4, seconds(7)},
      {"both", "3", "25", 4, seconds(7), 3, seconds(25)},
      {"each alone", "3", "", {}, seconds(7), 3, seconds(7)},
      {"zero does not count", "0", "0", {}, {}, 1, seconds(10)},
      {"negative does not count", "-1", "-5", 4, seconds(7), 4, seconds(7)},
      {"a sign counts", "+2", "+3", {}, {}, 2, seconds(3)},
      {"two signs do not", "++2", "+-3", {}, {}, 1, seconds(10)},
      {"not a number", "2x", "1.5", {}, {}, 1, seconds(10)},
      {"blanks", " 2", "3 ", {}, {}, 1, seconds(10)},
      {"too large a number", "99999999999", "99999999999", {}, {}, 1, seconds(10)},
      {"no retry", "", "", 0, {}, 0, seconds(10)},
      {"a negative count", "", "", -3, {}, 0, seconds(10)},
      {"no timeout", "", "", {}, seconds(0), 1, {}},
      {"a negative timeout", "", "", {}, seconds(-1), 1, {}},
      {"a timeout beyond all clocks", "", "2147483647", {}, {}, 1, seconds(86'400)},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ClientConfiguration client;
      client.retry_count = row.retry_count;
      client.request_timeout = row.request_timeout;
      const RequestPolicy policy = request_policy(client, row.retry, row.timeout);
      BOOST_TEST(policy.retries == row.retries);
      BOOST_TEST(policy.timeout.has_value() == row.result.has_value());
      BOOST_TEST((!policy.timeout || *policy.timeout == *row.result));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::registry
