#include "backends/external/quoting.h"

#include <boost/test/unit_test.hpp>

namespace modlock::test {
namespace {

using namespace external;

BOOST_AUTO_TEST_SUITE(words_test)

BOOST_AUTO_TEST_CASE(what_may_be_quoted) {
  Secrets secrets;
  secrets.add("canary");
  secrets.add("canary-long");
  struct Row {
    const char* name;
    std::string text;
    std::string quoted;
  };
  const Row rows[] = {
      {"plain", "all is fine", "all is fine"},
      {"space around", " \r\n a b\t\n", "a b"},
      {"nothing", " \n", ""},
      {"controls", "a\x1b[1mb\nc\u0085\u2028", "a\\x1b[1mb\\x0ac\\xc2\\x85\\xe2\\x80\\xa8"},
      {"no UTF-8", "a\xff", "a\uFFFD"},
      {"secrets, the longest first", "canary-long canary xcanaryx", "… … x…x"},
      {"user-info", "at https://me:pw@host/x and ssh://git@host", "at https://…@host/x and ssh://…@host"},
      {"a password with @ and /", "https://me:p@/w@host/x", "https://…@host/x"},
      {"a query", "<https://host/x?a=b#c> \"https://host?q\"", "<https://host/x…> \"https://host…\""},
      {"no URL", "a://", "a://"},
      {"as long as may be", std::string(500, 'a'), std::string(500, 'a')},
      {"too long", std::string(501, 'a'), std::string(500, 'a') + "…"},
      {"too long inside a character", std::string(499, 'a') + "é", std::string(499, 'a') + "…"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(quotable(row.text, secrets) == row.quoted);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
