#include "backends/external/answer.h"

#include <boost/test/unit_test.hpp>

#include "protocol/base/json.h"
#include "tests/backends/external/external_fixture.h"

namespace modlock::test {
namespace {

using namespace external;

BOOST_AUTO_TEST_SUITE(answer_test)

std::string shown(const Result<std::optional<Answer>>& answer) {
  if (!answer) {
    return outcome(answer);
  }
  if (!*answer) {
    return "notification";
  }
  const auto& [id, result] = **answer;
  return std::to_string(id) + " " + (result ? write_json(*result) : outcome(result));
}

BOOST_AUTO_TEST_CASE(lines_of_a_backend) {
  struct Row {
    const char* line;
    const char* shown;
  };
  const Row rows[] = {
      {R"({"jsonrpc":"2.0","id":1,"result":{"id":"x"}})", R"(1 {"id":"x"})"},
      {R"({"jsonrpc":"2.0","id":18446744073709551615,"result":null})", "18446744073709551615 null"},
      {R"({"jsonrpc":"2.0","method":"m"})", "notification"},
      {R"({"jsonrpc":"2.0","method":"m","id":null})", "notification"},
      {R"({"jsonrpc":"2.0","method":"m","id":1})", "BAD_RESPONSE: it sent a request, but a backend only answers"},
      {R"({"jsonrpc":"2.0","id":1.0,"result":1})", "BAD_RESPONSE: it wrote an answer without the id of a request"},
      {R"({"jsonrpc":"2.0","id":-1,"result":1})", "BAD_RESPONSE: it wrote an answer without the id of a request"},
      {R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}})",
       "BAD_RESPONSE: it wrote an answer without the id of a request"},
      {R"({"jsonrpc":"2.0","id":"1","result":{}})", "BAD_RESPONSE: it wrote an answer without the id of a request"},
      {R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}})",
       "BAD_RESPONSE: it wrote an answer that has not exactly one of \"result\" and \"error\""},
      {R"({"jsonrpc":"2.0","id":1})",
       "BAD_RESPONSE: it wrote an answer that has not exactly one of \"result\" and \"error\""},
      {R"([{"jsonrpc":"2.0","id":1,"result":1}])",
       "BAD_RESPONSE: it wrote a line that is no answer (no object with the member \"jsonrpc\": \"2.0\")"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{"code":"FORBIDDEN"}}})", "1 FORBIDDEN: m"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{"code":"INTERNAL"}}})", "1 BAD_RESPONSE: m"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{"code":"NO SUCH"}}})", "1 BAD_RESPONSE: m"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{"code":5}}})",
       "1 BAD_RESPONSE: expected a string at error.data.code, found a number"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{"code":"TAG_MOVED"}}})", "1 BAD_RESPONSE: m"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}})", "1 BAD_RESPONSE: m"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601}})",
       "1 BAD_RESPONSE: expected a string at error.message, found nothing"},
      {R"({"jsonrpc":"2.0","id":1,"error":"m"})", "1 BAD_RESPONSE: expected an object at error, found a string"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.line) {
      BOOST_TEST(shown(parse_answer(row.line)) == row.shown);
    }
  }
}

BOOST_AUTO_TEST_CASE(waiting_times_are_bounded) {
  const auto answer = parse_answer(
      R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{"retryAfterMs":18446744073709551615}}})");
  BOOST_TEST((*answer)->result.error().retry_after.value().count() == 24 * 3600 * 1000);
}

BOOST_AUTO_TEST_CASE(texts_that_can_be_ids) {
  struct Row {
    std::string text;
    bool is_id;
  };
  const Row rows[] = {
      {"0", true},         {"9fA.b_c:d-e", true},
      {"sha256:ab", true}, {std::string(200, 'a'), true},
      {"", false},         {std::string(201, 'a'), false},
      {"-a", false},       {".a", false},
      {"a/b", false},      {"a b", false},
      {"a\n", false},      {"é", false},
      {"a+b", false},      {std::string("a\0b", 3), false},
      {"a\"b", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      BOOST_TEST(is_id(row.text, IdForm::any) == row.is_id);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test

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
