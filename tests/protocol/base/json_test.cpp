#include "protocol/base/json.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(json_test)

BOOST_AUTO_TEST_CASE(texts_come_back_compact_and_sorted) {
  struct Row {
    const char* text;
    const char* written;
  };
  const Row rows[] = {
      {"{ \"b\" : 1 , \"a\" : [ ] , \"c\":{}}", R"({"a":[],"b":1,"c":{}})"},
      {R"("\u00e9\u20ac\ud83d\ude00")", "\"é€😀\""},
      {R"("\u0000\u001f\"\\\/\b\n")", R"("\u0000\u001f\"\\/\b\n")"},
      {R"({"a\u0000b":1})", R"({"a\u0000b":1})"},
      {"\"\x7F\"", "\"\x7F\""},
      {"9007199254740993", "9007199254740993"},
      {"18446744073709551615", "18446744073709551615"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"[1.5,true,null]", "[1.5,true,null]"},
      {"{\"B\":1,\"a\":2,\"é\":3,\"Z\":4}", "{\"B\":1,\"Z\":4,\"a\":2,\"é\":3}"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto value = parse_json(row.text);
      BOOST_REQUIRE(value);
      BOOST_TEST(write_json(*value) == row.written);
    }
  }
}

BOOST_AUTO_TEST_CASE(errors_have_the_code_of_their_kind) {
  struct Row {
    const char* text;
    const char* code;
  };
  const Row rows[] = {
      {"{} {}", "PARSE_ERROR"},
      {"[1,]", "PARSE_ERROR"},
      {"1e999", "PARSE_ERROR"},
      {"{\"a\":\"\xFF\"}", "PARSE_ERROR"},
      {R"(["\ud800"])", "INVALID_REQUEST"},
      {R"({"a":1,"a":1})", "INVALID_REQUEST"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto value = parse_json(row.text);
      BOOST_REQUIRE(!value);
      BOOST_TEST(to_string(value.error().code) == row.code);
    }
  }
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_text_are_replaced_on_the_way_out) {
  BOOST_TEST(write_json(Json::Value("a\xFFz")) == "\"a\xEF\xBF\xBDz\"");
}

BOOST_AUTO_TEST_CASE(pretty_for_people) {
  const auto value = parse_json(R"({"b":[1,{"c":null}],"a":"x","e":{},"f":[]})");
  BOOST_REQUIRE(value);
  BOOST_TEST(write_json_pretty(*value) ==
             "{\n  \"a\": \"x\",\n  \"b\": [\n    1,\n    {\n      \"c\": null\n    }\n  ],\n  \"e\": {},\n"
             "  \"f\": []\n}\n");
}

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
      BOOST_TEST(write_json(Json::Value(row.text)) == row.written);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_ascii_string_comes_back) {
  for (char c = 0; c != '\x7f'; ++c) {
    const std::string text = {'a', c, 'b'};
    const std::string out = write_json(Json::Value(text));
    BOOST_TEST(parse_json(out).value().asString() == text, out);
  }
}

BOOST_AUTO_TEST_CASE(what_is_escaped_may_stand_anywhere) {
  constexpr std::size_t kSeveralBlocks = 40;
  for (const char* piece : {"\"", "\\", "\n", "\x1f", "é", "\\\""}) {
    for (std::size_t before = 0; before < kSeveralBlocks; ++before) {
      const std::string text = std::string(before, 'a') + piece + std::string(kSeveralBlocks - before, 'b');
      const std::string out = write_json(Json::Value(text));
      BOOST_TEST(parse_json(out).value().asString() == text, out);
      Json::Value list(Json::arrayValue);
      list.append(text);
      BOOST_TEST(write_json_pretty(list) == "[\n  " + out + "\n]\n");
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
      {R"({"\\":"\\\"","{[":"]}:, \" \\"})", "{\n  \"\\\\\": \"\\\\\\\"\",\n  \"{[\": \"]}:, \\\" \\\\\"\n}\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.compact) {
      BOOST_TEST(write_json_pretty(parse_json(row.compact).value()) == row.indented);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
