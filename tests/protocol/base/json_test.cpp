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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
