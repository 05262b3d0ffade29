#include "protocol/base/json_tokens.h"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

namespace modlock {
namespace {

// The tokens of a text, each as written; a fault is "!" and its number, with the places where its token starts and
// ends.
std::string tokens_of(std::string_view text, std::size_t start = 0) {
  JsonTokens tokens(text, start);
  std::string out;
  while (true) {
    const JsonToken token = tokens.next();
    if (token.kind == JsonKind::text_end) {
      return out;
    }
    if (token.kind == JsonKind::fault) {
      const auto fault = static_cast<int>(token.fault);
      return out + "!" + std::to_string(fault) + " " + std::to_string(token.start) + "-" + std::to_string(token.end);
    }
    out += std::string(token.of(text)) + (token.kind == JsonKind::name ? ":" : " ");
  }
}

std::string fault(JsonFault fault, std::string_view place) {
  return "!" + std::to_string(static_cast<int>(fault)) + " " + std::string(place);
}

BOOST_AUTO_TEST_SUITE(json_tokens_test)

BOOST_AUTO_TEST_CASE(separators_are_left_out) {
  BOOST_TEST(tokens_of(" {\"a\" : [1 , {} ] ,\"b\":null}\n") == "{ \"a\":[ 1 { } ] \"b\":null } ");
  BOOST_TEST(tokens_of("[\"\\\"]\",-1.5e+3,true,[ ]]") == "[ \"\\\"]\" -1.5e+3 true [ ] ] ");
  BOOST_TEST(tokens_of("{\"a\": 5}", 5) == "5 " + fault(JsonFault::text_end, "7-7"));
}

BOOST_AUTO_TEST_CASE(a_fault_is_where_its_byte_is) {
  struct Row {
    const char* text;
    std::string tokens;
  };
  const Row rows[] = {
      {"", fault(JsonFault::value, "0-0")},
      {"[1,]", "[ 1 " + fault(JsonFault::value, "3-3")},
      {"{,", "{ " + fault(JsonFault::name, "1-1")},
      {"{\"a\":1,}", "{ \"a\":1 " + fault(JsonFault::name, "7-7")},
      {"{\"a\" 1}", "{ \"a\":" + fault(JsonFault::colon, "5-5")},
      {"{\"a\":1]", "{ \"a\":1 " + fault(JsonFault::member_end, "6-6")},
      {"[1}", "[ 1 " + fault(JsonFault::item_end, "2-2")},
      {"1 2", "1 " + fault(JsonFault::text_end, "2-2")},
      {"[nulL", "[ " + fault(JsonFault::literal, "1-4")},
      {"[-x", "[ " + fault(JsonFault::integer, "1-2")},
      {"[1.x", "[ " + fault(JsonFault::fraction, "1-3")},
      {"[1e+x", "[ " + fault(JsonFault::exponent, "1-4")},
      {"[\"a\nb\"]", "[ " + fault(JsonFault::character, "1-3")},
      {"[\"a", "[ " + fault(JsonFault::character, "1-3")},
      {"[\"a\\x\"", "[ " + fault(JsonFault::escape, "1-4")},
      {"[\"\\u12x4\"", "[ " + fault(JsonFault::hex_digit, "1-6")},
      {"[\"\\ud83d\\u+e00\"", "[ " + fault(JsonFault::hex_digit, "1-10")},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      BOOST_TEST(tokens_of(row.text) == row.tokens);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_innermost_bracket_is_known) {
  JsonTokens tokens(" {\"a\": [1]}");
  const std::pair<std::size_t, bool> depths[] = {{1, false}, {1, false}, {2, true}, {2, true}, {1, false}, {0, false}};
  for (const auto& [depth, in_array] : depths) {
    static_cast<void>(tokens.next());
    BOOST_TEST(tokens.depth() == depth);
    BOOST_TEST(tokens.in_array() == in_array);
    BOOST_TEST((depth == 0 || tokens.opening() == (depth == 1 ? 1U : 7U)));
  }
}

BOOST_AUTO_TEST_CASE(strings) {
  struct Row {
    const char* literal;
    std::string text;
    std::size_t lone_surrogate = std::string_view::npos;
    std::vector<std::pair<std::size_t, std::size_t>> shifts = {};
  };
  const Row rows[] = {
      {R"("")", ""},
      {R"("é")", "é"},
      {R"("\"\\\/\b\f\n\r\t")",
       "\"\\/\b\f\n\r\t",
       std::string_view::npos,
       {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 8}}},
      {R"("a\u00e9b\u0000")", std::string("aéb\0", 5), std::string_view::npos, {{3, 4}, {5, 9}}},
      {R"("\uD83D\ude00.")", "😀.", std::string_view::npos, {{4, 8}}},
      {R"("x\ud800y")", "x\uFFFDy", 2, {{4, 3}}},
      {R"("\udc00\ud800\ud800\udc00")", "\uFFFD\uFFFD\U00010000", 1, {{3, 3}, {6, 6}, {10, 14}}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.literal) {
      const JsonToken token = JsonTokens(row.literal).next();
      BOOST_TEST((token.kind == JsonKind::string));
      BOOST_TEST(token.lone_surrogate == row.lone_surrogate);
      std::vector<std::pair<std::size_t, std::size_t>> shifts;
      BOOST_TEST(decode_json_string(token.of(row.literal), &shifts) == row.text);
      BOOST_TEST((shifts == row.shifts));
    }
  }
  BOOST_TEST(JsonTokens("\"a\"").next().is_ascii);
  BOOST_TEST(!JsonTokens("\"é\"").next().is_ascii);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
