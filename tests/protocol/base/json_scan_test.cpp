#include "protocol/base/json.h"

#include <boost/test/unit_test.hpp>

#include <string>

namespace modlock {
namespace {

using namespace std::string_view_literals;

BOOST_AUTO_TEST_SUITE(json_scan_test)

BOOST_AUTO_TEST_CASE(what_is_json) {
  const std::string_view texts[] = {
      "{}",
      "[]",
      " \t\r\n1 \t\r\n",
      "null",
      "true",
      "false",
      "\"\"",
      "0",
      "-0",
      "12.5e-3",
      "1E+2",
      "123456789012345678901234567890",
      R"("\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\u0000")",
      "\"\xC3\xA9\xF0\x9F\x98\x80\x7F\"",
      R"({"a":{"a":1},"b":[{"a":2},{"a":3}]})",
  };
  for (const std::string_view text : texts) {
    BOOST_TEST_CONTEXT(text) {
      const auto scan = scan_json(text);
      BOOST_TEST((scan && !scan->rejection));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_json) {
  struct Row {
    std::string_view text;
    std::string_view message;
  };
  const Row rows[] = {
      {"", "byte 0: expected a value, found the end of the text"},
      {"  ", "byte 2: expected a value, found the end of the text"},
      {"\xEF\xBB\xBF{}", "byte 0: a byte order mark, which JSON texts must not have"},
      {"{}{}", "byte 2: expected the end of the text, found '{'"},
      {"{} x", "byte 3: expected the end of the text, found 'x'"},
      {"{}\0"sv, "byte 2: expected the end of the text, found the byte 0x00"},
      {"\0"sv, "byte 0: expected a value, found the byte 0x00"},
      {"\"a\0b\""sv, "byte 2: expected a character or '\"', found the byte 0x00"},
      {"\"a\tb\"", "byte 2: expected a character or '\"', found the byte 0x09"},
      {"\"a\xFF\"", "byte 2: invalid UTF-8"},
      {"\"\xC0\xAF\"", "byte 1: invalid UTF-8"},
      {"\"\xED\xA0\x80\"", "byte 1: invalid UTF-8"},
      {"\xFF", "byte 0: expected a value, found the byte 0xFF"},
      {"\"abc", "byte 4: expected '\"', found the end of the text"},
      {"\"\\x\"", "byte 2: expected an escape sequence, found 'x'"},
      {"\"\\", "byte 2: expected an escape sequence, found the end of the text"},
      {"\"\\u12G4\"", "byte 5: expected a hexadecimal digit, found 'G'"},
      {"\"\\uD800\\u12\"", "byte 11: expected a hexadecimal digit, found '\"'"},
      {"{a:1}", "byte 1: expected a member name, found 'a'"},
      {"{\"a\" 1}", "byte 5: expected ':', found '1'"},
      {"{\"a\":1,}", "byte 7: expected a member name, found '}'"},
      {"{\"a\":1", "byte 6: expected ',' or '}', found the end of the text"},
      {"[1,]", "byte 3: expected a value, found ']'"},
      {"[1 2]", "byte 3: expected ',' or ']', found '2'"},
      {"[", "byte 1: expected a value, found the end of the text"},
      {"01", "byte 1: expected the end of the text, found '1'"},
      {"-", "byte 1: expected a digit, found the end of the text"},
      {"1.", "byte 2: expected a digit, found the end of the text"},
      {".5", "byte 0: expected a value, found '.'"},
      {"1e", "byte 2: expected a digit, found the end of the text"},
      {"+1", "byte 0: expected a value, found '+'"},
      {"NaN", "byte 0: expected a value, found 'N'"},
      {"Infinity", "byte 0: expected a value, found 'I'"},
      {"nul", "byte 3: expected 'null', found the end of the text"},
      {"truE", "byte 3: expected 'true', found 'E'"},
      {"'a'", "byte 0: expected a value, found '''"},
      {"// c\n1", "byte 0: expected a value, found '/'"},
      {"{\"a\":1,\"a\":2,", "byte 13: expected a member name, found the end of the text"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto scan = scan_json(row.text);
      BOOST_REQUIRE(!scan);
      BOOST_TEST(to_string(scan.error().code) == "PARSE_ERROR");
      BOOST_TEST(scan.error().message == "the text is not JSON: " + std::string(row.message));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_ambiguous) {
  struct Row {
    std::string_view text;
    std::string_view message;
  };
  const Row rows[] = {
      {R"({"a":1,"a":2})", "byte 7: the member name \"a\" appears twice in one object"},
      {R"([{"x":{"a":1,"\u0061":2}}])", "byte 13: the member name \"a\" appears twice in one object"},
      {R"({"é":1,"\u00e9":2})", "byte 8: the member name \"é\" appears twice in one object"},
      {R"(["\uD800"])", "byte 2: a lone surrogate, which is not a character"},
      {R"(["x\uDC00"])", "byte 3: a lone surrogate, which is not a character"},
      {R"(["\uD800\uD800\uDC00"])", "byte 2: a lone surrogate, which is not a character"},
      {R"(["\uD800\n"])", "byte 2: a lone surrogate, which is not a character"},
      {R"({"\uDFFF":1})", "byte 2: a lone surrogate, which is not a character"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto scan = scan_json(row.text);
      BOOST_REQUIRE(scan);
      BOOST_REQUIRE(scan->rejection);
      BOOST_TEST(to_string(scan->rejection->code) == "INVALID_REQUEST");
      BOOST_TEST(scan->rejection->message == "the JSON text is ambiguous: " + std::string(row.message));
    }
  }
}

BOOST_AUTO_TEST_CASE(depth_is_limited) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  BOOST_TEST(scan_json(nested(128)).has_value());
  const auto deeper = scan_json(nested(129));
  BOOST_REQUIRE(!deeper);
  BOOST_TEST(deeper.error().message == "the text is not JSON: byte 128: more than 128 levels of nesting");
  BOOST_TEST(!scan_json(std::string(1'000'000, '[')).has_value());
}

BOOST_AUTO_TEST_CASE(values_are_limited) {
  // `count` values: a list of one value less, each written as `one`, which has `each` of them.
  const auto list = [](std::size_t count, const std::string& one, std::size_t each) {
    std::string text = "[" + one;
    for (std::size_t i = 1; i < (count - 1) / each; ++i) {
      text += ',' + one;
    }
    return text + ']';
  };
  struct Row {
    const char* name;
    std::string text;
    bool is_rejected;
  };
  const Row rows[] = {
      {"numbers at the limit", list(1'000'000, "0", 1), false},
      {"one number over", list(1'000'001, "0", 1), true},
      {"strings over", list(1'000'001, "\"\"", 1), true},
      {"empty lists over", list(1'000'001, "[]", 1), true},
      {"names do not count", list(999'999, R"({"version":""})", 2), false},
      {"members over", list(1'000'003, R"({"version":""})", 2), true},
      {"at the limit, nested", R"({"id":)" + list(999'999, "0", 1) + "}", false},
      {"over, nested", R"({"id":7,"params":)" + list(1'000'000, "0", 1) + "}", true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto scan = scan_json(row.text);
      BOOST_REQUIRE(scan);
      BOOST_TEST(scan->rejection.has_value() == row.is_rejected);
      if (scan->rejection) {
        BOOST_TEST(to_string(scan->rejection->code) == "LIMIT_EXCEEDED");
        BOOST_TEST(scan->rejection->message == "the JSON text has more than 1,000,000 values");
      }
    }
  }
  BOOST_TEST(scan_json(rows[7].text)->id.value_or("none") == "7");
}

BOOST_AUTO_TEST_CASE(the_id_is_found_where_there_is_one) {
  struct Row {
    const char* text;
    const char* id;  // null: none
  };
  const Row rows[] = {
      {R"({"id":7,"x":{"id":8}})", "7"}, {R"({"x":1,"x":2,"\u0069d": "a" })", "\"a\""},
      {R"({"id":1,"id":1})", nullptr},   {R"([{"id":1}])", nullptr},
      {R"({"x":{"id":1}})", nullptr},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto scan = scan_json(row.text);
      BOOST_REQUIRE(scan);
      BOOST_TEST(scan->id.value_or("none") == (row.id == nullptr ? "none" : row.id));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
