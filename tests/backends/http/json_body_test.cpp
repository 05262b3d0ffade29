#include "backends/http/http_client.h"

#include <boost/test/unit_test.hpp>

#include <string>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(json_body_test)

BOOST_AUTO_TEST_CASE(what_a_server_sends_instead_of_json_is_named) {
  const std::string page = "BAD_RESPONSE: the server sent an HTML page, not JSON";
  const std::string no_json = "BAD_RESPONSE: the text is not JSON: byte ";
  std::string zeros = "[0";
  for (int i = 0; i < 1'000'000; ++i) {
    zeros += ",0";
  }
  struct Row {
    const char* name;
    std::string body;
    std::string error;  // empty: none
  };
  const Row rows[] = {
      {"an object", R"({"a":"<html>"})", ""},
      {"a string", "\"<html>\"", ""},
      {"a page", "<html><body>Sign in</body></html>", page},
      {"a page with a declaration", "\r\n <!DOCTYPE html>\n<title>502</title>", page},
      {"a page behind a byte order mark", "\xEF\xBB\xBF<HTML>", page},
      {"a page of XHTML", "<?xml version=\"1.0\"?>\n<!DOCTYPE html PUBLIC \"-\">", page},
      {"XML", "<?xml version=\"1.0\"?><Error/>", no_json + "0: expected a value, found '<'"},
      {"a text", "later", no_json + "0: expected a value, found 'l'"},
      {"nothing", "", no_json + "0: expected a value, found the end of the text"},
      {"JSON with a page behind it", "{}<html>", no_json + "2: expected the end of the text, found '<'"},
      {"ambiguous", R"({"a":1,"a":2})",
       "BAD_RESPONSE: the JSON text is ambiguous: byte 7: the member name \"a\" appears twice in one object"},
      {"too many values", zeros + "]", "LIMIT_EXCEEDED: the JSON text has more than 1,000,000 values"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto json = parse_json_body(row.body);
      BOOST_TEST((json ? "" : std::string(to_string(json.error().code)) + ": " + json.error().message) == row.error);
      if (!json) {
        BOOST_TEST(
            json.error().hint ==
            (row.error == page ? "check the address, and whether a proxy or a login page responds in its place" : ""));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
