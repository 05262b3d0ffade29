#include "plugin/hcl/characters.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "plugin/hcl/parser.h"
#include "tests/plugin/hcl/tree_shape.h"

namespace {

using namespace modlock;
using namespace modlock::hcl;

BOOST_AUTO_TEST_SUITE(characters)

BOOST_AUTO_TEST_CASE(bad_bytes) {
  struct Row {
    const char* name;
    std::string text;
    const char* error;
  };
  const std::string hint = " (save the file as UTF-8)";
  const Row rows[] = {
      {"stray continuation", "a = \"\x80\"",
       "main.tf:1:6-1:7 expected text in UTF-8, found the byte 0x80, which is not part of any"},
      {"overlong", "a = \"\xC0\x80\"",
       "main.tf:1:6-1:7 expected text in UTF-8, found the byte 0xC0, which is not part of any"},
      {"surrogate", "a = 1\nb = \"x\xED\xA0\x80\"",
       "main.tf:2:7-2:8 expected text in UTF-8, found the byte 0xED, which is not part of any"},
      {"beyond Unicode", "\xF4\x90\x80\x80",
       "main.tf:1:1-1:2 expected text in UTF-8, found the byte 0xF4, which is not part of any"},
      {"cut off", "a = \"\xE2\x82",
       "main.tf:1:6-1:7 expected text in UTF-8, found the byte 0xE2, which is not part of any"},
      {"UTF-16", "\xFF\xFE", "main.tf:1:1-1:2 expected text in UTF-8, found the byte 0xFF, which is not part of any"},
      {"NUL in a string", std::string("a = \"x\0\"", 8), "main.tf:1:7-1:8 expected text in UTF-8, found a NUL byte"},
      {"NUL in a comment", std::string("# \0", 3), "main.tf:1:3-1:4 expected text in UTF-8, found a NUL byte"},
      {"behind a byte order mark", "\xEF\xBB\xBF\x80",
       "main.tf:1:1-1:2 expected text in UTF-8, found the byte 0x80, which is not part of any"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ParsedFile file = parse_native(row.text, "main.tf");
      BOOST_TEST_REQUIRE(file.diagnostics.size() == 1U);
      BOOST_TEST(test::to_line(file.diagnostics.front().what) == row.error + hint);
    }
  }
}

BOOST_AUTO_TEST_CASE(bad_bytes_in_comments_mean_nothing) {
  for (const std::string& text : {"# Gr\xF6\xDF"
                                  "e\na = \"ö\"\n",
                                  "a = 1 // \xE2\x82\n", "/* \xFF\n\xFE */ a = [\n  1, # \x80\n]\n"}) {
    BOOST_TEST_CONTEXT(text) {
      const ParsedFile file = parse_native(text, "main.tf");
      BOOST_TEST(file.diagnostics.empty());
      BOOST_TEST(file.body.attributes.size() == 1U);
      BOOST_TEST(parse_native(text, "lock", {.error_code = Code::lock_parse}).diagnostics.size() == 1U);
    }
  }
  const ParsedFile file = parse_native("# \x80\na = \"# \x81\"\n", "main.tf");
  BOOST_TEST_REQUIRE(file.diagnostics.size() == 1U);
  BOOST_TEST(test::to_line(file.diagnostics.front().what) ==
             "main.tf:2:8-2:9 expected text in UTF-8, found the byte 0x81, which is not part of any (save the file as "
             "UTF-8)");
}

BOOST_AUTO_TEST_CASE(identifiers) {
  struct Row {
    const char* name;
    std::string text;
    std::size_t size;
  };
  const Row rows[] = {
      {"letters", "abc", 3},
      {"digits, minus and underscore behind", "a1-_ b", 4},
      {"underscore first", "_a", 2},
      {"digit first", "1a", 0},
      {"minus first", "-a", 0},
      {"letters of other scripts", "名é.", 5},
      {"combining mark behind", "e\xCC\x81 ", 3},
      {"combining mark first", "\xCC\x81", 0},
      {"middle dot behind", "a·b", 4},
      {"emoji", "😀", 0},
      {"nothing", "", 0},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(identifier_size(row.text, 0) == row.size);
    }
  }
}

BOOST_AUTO_TEST_CASE(positions) {
  struct Row {
    const char* name;
    std::string text;
    std::size_t line;
    std::size_t column;
  };
  const Row rows[] = {
      {"nothing", "", 1, 1},
      {"ASCII", "abc", 1, 4},
      {"tab", "\ta", 1, 3},
      {"line feed", "a\nb", 2, 2},
      {"carriage return and line feed", "a\r\nb", 2, 2},
      {"carriage return", "a\rb", 1, 4},
      {"line feed before a mark", "\n\xCC\x81", 2, 2},
      {"composed", "e\xCC\x81", 1, 2},
      {"family", "👨‍👩‍👧‍👦", 1, 2},
      {"flags", "🇩🇪🇫🇷", 1, 3},
      {"skin tone", "👍🏽", 1, 2},
      {"Hangul", "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", 1, 2},
      {"line separator starts no line", "a\u2028b", 1, 4},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Position end = advance({}, row.text);
      BOOST_TEST(end.line == row.line);
      BOOST_TEST(end.column == row.column);
      BOOST_TEST(end.byte == row.text.size());
    }
  }
}

BOOST_AUTO_TEST_CASE(blanks) {
  BOOST_TEST(trim_left(" \t\u00a0\u3000\r\nx ") == "x ");
  BOOST_TEST(trim_right(" x\u2003\n ") == " x");
  BOOST_TEST(trim_left(" \n") == "");
  BOOST_TEST(trim_right(" \n") == "");
  BOOST_TEST(trim_right("é\u200b") == "é\u200b");
}

BOOST_AUTO_TEST_CASE(text_for_messages) {
  BOOST_TEST(quoted_for_message("abc") == "\"abc\"");
  BOOST_TEST(quoted_for_message("“") == "\"“\" (U+201C)");
  BOOST_TEST(quoted_for_message("\f") == "U+000C");
  BOOST_TEST(quoted_for_message("\u00a0") == "U+00A0");
  BOOST_TEST(quoted_for_message(std::string(41, 'a')) == "\"" + std::string(40, 'a') + "…\"");
  BOOST_TEST(quoted_for_message(std::string(39, 'a') + "é") == "\"" + std::string(39, 'a') + "…\"");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
