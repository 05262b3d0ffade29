#include "protocol/base/json_text.h"

#include <boost/test/unit_test.hpp>

#include "protocol/base/json.h"

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(json_text_test)

BOOST_AUTO_TEST_CASE(strings_are_escaped_no_further_than_json_requires) {
  struct Row {
    const char* name;
    std::string text;
    const char* written;
  };
  const Row rows[] = {
      {"empty", "", R"("")"},
      {"plain", "v1.2.0 /~", R"("v1.2.0 /~")"},
      {"quote and backslash", R"(a"b\c)", R"("a\"b\\c")"},
      {"named controls", "\b\f\n\r\t", R"("\b\f\n\r\t")"},
      {"other controls", std::string("\0\x01\x1F\x7F", 4), "\"\\u0000\\u0001\\u001f\x7F\""},
      {"beyond ASCII", "é€😀\u2028", "\"é€😀\u2028\""},
      {"no UTF-8", "a\xFF\xC3(\xE2\x82", "\"a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::string out = "x";
      append_json_string(out, row.text);
      BOOST_TEST(out == std::string("x") + row.written);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_ascii_string_comes_back) {
  for (char c = 0; c != '\x7f'; ++c) {
    const std::string text = {'a', c, 'b'};
    std::string out;
    append_json_string(out, text);
    BOOST_TEST(parse_json(out).value().asString() == text, out);
  }
}

BOOST_AUTO_TEST_CASE(what_is_escaped_may_stand_anywhere) {
  constexpr std::size_t kSeveralBlocks = 40;
  for (const char* piece : {"\"", "\\", "\n", "\x1f", "é", "\\\""}) {
    for (std::size_t before = 0; before < kSeveralBlocks; ++before) {
      const std::string text = std::string(before, 'a') + piece + std::string(kSeveralBlocks - before, 'b');
      std::string out;
      append_json_string(out, text);
      BOOST_TEST(parse_json(out).value().asString() == text, out);
      BOOST_TEST(indent_json("[" + out + "]") == "[\n  " + out + "\n]\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(indented_for_people) {
  struct Row {
    const char* compact;
    const char* indented;
  };
  const Row rows[] = {
      {"null", "null\n"},
      {"{}", "{}\n"},
      {R"("a,b")", "\"a,b\"\n"},
      {R"([[],{},[{}]])", "[\n  [],\n  {},\n  [\n    {}\n  ]\n]\n"},
      {R"({"a":-1.5,"b":true})", "{\n  \"a\": -1.5,\n  \"b\": true\n}\n"},
      {R"({"{[":"]}:, \" \\","\\":"\\\""})", "{\n  \"{[\": \"]}:, \\\" \\\\\",\n  \"\\\\\": \"\\\\\\\"\"\n}\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.compact) {
      BOOST_REQUIRE(parse_json(row.compact));
      BOOST_TEST(indent_json(row.compact) == row.indented);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
