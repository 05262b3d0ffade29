#include "protocol/base/utf8.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(utf8_test)

BOOST_AUTO_TEST_CASE(sequence_lengths) {
  struct Row {
    const char* name;
    std::string_view text;
    std::size_t length;
  };
  const Row rows[] = {
      {"nothing", "", 0},
      {"ascii", "ab", 1},
      {"two bytes", "\xC3\xA9", 2},
      {"three bytes", "\xE2\x82\xAC", 3},
      {"last before the surrogates", "\xED\x9F\xBF", 3},
      {"four bytes", "\xF0\x9F\x98\x80", 4},
      {"U+10FFFF", "\xF4\x8F\xBF\xBF", 4},
      {"over U+10FFFF", "\xF4\x90\x80\x80", 0},
      {"0xF5", "\xF5\x80\x80\x80", 0},
      {"0xFF", "\xFF", 0},
      {"stray continuation", "\x80", 0},
      {"overlong two", "\xC0\xAF", 0},
      {"overlong C1", "\xC1\xBF", 0},
      {"overlong three", "\xE0\x80\xAF", 0},
      {"overlong four", "\xF0\x80\x80\xAF", 0},
      {"surrogate", "\xED\xA0\x80", 0},
      {"cut two", "\xC3", 0},
      {"cut four", "\xF0\x9F\x98", 0},
      {"wrong third", "\xE2\x82(", 0},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(utf8_sequence_length(row.text) == row.length);
    }
  }
}

BOOST_AUTO_TEST_CASE(code_points_are_appended) {
  std::string out;
  for (const char32_t code_point : {U'a', U'\u00E9', U'\u20AC', U'\U0001F600'}) {
    append_utf8(out, code_point);
  }
  BOOST_TEST(out == "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
}

BOOST_AUTO_TEST_CASE(invalid_bytes_are_replaced_one_by_one) {
  BOOST_TEST(to_valid_utf8("caf\xC3\xA9") == "caf\xC3\xA9");
  BOOST_TEST(to_valid_utf8("a\xFF\x80z") == "a\xEF\xBF\xBD\xEF\xBF\xBDz");
}

BOOST_AUTO_TEST_CASE(whole_texts_are_checked) {
  BOOST_TEST(is_utf8(""));
  BOOST_TEST(is_utf8("caf\xC3\xA9"));
  BOOST_TEST(!is_utf8("caf\xC3"));
}

BOOST_AUTO_TEST_CASE(a_text_is_cut_between_characters) {
  struct Row {
    const char* name;
    std::size_t size;
    const char* cut;
  };
  for (const Row& row : {Row{"all of it", 5, "caf\xC3\xA9"}, Row{"before a character", 3, "caf…"},
                         Row{"within a character", 4, "caf…"}, Row{"nothing", 0, "…"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(cut_text("caf\xC3\xA9", row.size) == row.cut);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
