// What test_summary_test.py runs to see what scripts/test-summary makes of real output.

#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "tests/support/needs.h"

using modlock::test::needs;

BOOST_AUTO_TEST_CASE(passes) {
  BOOST_TEST(true);
}

BOOST_AUTO_TEST_SUITE(outer, *needs("sh, no-such-program or another-one"))
BOOST_AUTO_TEST_CASE(one) {
  BOOST_TEST(false);
}
BOOST_AUTO_TEST_SUITE(inner, *needs("no-such-program"))
BOOST_AUTO_TEST_CASE(two) {
  BOOST_TEST(false);
}
BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(entered)
BOOST_AUTO_TEST_CASE(four, *needs("no-such-program, sh, another-one")) {
  BOOST_TEST(false);
}
BOOST_AUTO_TEST_CASE(five, *needs("no-such-program or sh")) {
  BOOST_TEST(true);
}
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(may_crash) {
  BOOST_TEST(true);
  if (std::getenv("CRASH") != nullptr) {
    std::_Exit(3);
  }
}

BOOST_AUTO_TEST_CASE(last) {
  BOOST_TEST(true);
}
