#include <boost/test/unit_test.hpp>

#include "protocol/json.h"
#include "tests/e2e/scene.h"

using namespace modlock;
using namespace modlock::test;

BOOST_FIXTURE_TEST_SUITE(cache_command, Scene)

BOOST_AUTO_TEST_CASE(what_was_just_used_is_not_pruned) {
  const Ran ran = modlock({"cache", "prune", "--max-bytes", "1KiB", "--max-age", "0", "--json"});
  BOOST_TEST(ran.err == "");
  BOOST_TEST(ran.exit_code == 0);
  const Json::Value result = parse_json(ran.out).value();
  BOOST_TEST(result["removed"]["packages"].asInt() == 0);
  BOOST_TEST(result["removed"]["leftovers"].asInt() == 0);
}

BOOST_AUTO_TEST_CASE(the_table_says_what_went_and_what_is_left) {
  const Ran ran = modlock({"cache", "prune"});
  BOOST_TEST(ran.err == "");
  BOOST_TEST(ran.out.substr(ran.out.find('\n') + 1) ==
             "Removed:\n  0 packages, 0.0 MiB\n  0 git repositories, 0.0 MiB\n  0 leftovers\n"
             "Left:\n  0 packages, 0.0 MiB\n  0 git repositories, 0.0 MiB\n");
}

BOOST_AUTO_TEST_CASE(a_limit_must_be_readable) {
  const Ran age = modlock({"cache", "prune", "--max-age", "a month"});
  BOOST_TEST(age.exit_code == 2);
  BOOST_TEST(age.err.find("maxAge must be a duration, found \"a month\"") != std::string::npos);
  BOOST_TEST(modlock({"cache", "prune", "--max-bytes", "much"}).exit_code == 2);
}

BOOST_AUTO_TEST_SUITE_END()
