#include "plugin/update/written_text.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

using Places = std::vector<std::size_t>;

BOOST_AUTO_TEST_SUITE(written_text)

BOOST_AUTO_TEST_CASE(each_byte_has_its_place) {
  struct Row {
    const char* name;
    Quoting quoting;
    const char* written;
    const char* text;
    Places places;
  };
  const Row rows[] = {
      {"nothing", Quoting::quoted, "", "", {0}},
      {"as it stands", Quoting::quoted, "abc", "abc", {0, 1, 2, 3}},
      {"escapes", Quoting::quoted, R"(a\"b\\)", "a\"b\\", {0, 1, 3, 4, 6}},
      {"a character of two bytes",
       Quoting::quoted,
       R"(\u00e4b)",
       "\xc3\xa4"
       "b",
       {0, 0, 6, 7}},
      {"a character of four bytes", Quoting::quoted, R"(\U0001F600)", "\xF0\x9F\x98\x80", {0, 0, 0, 0, 10}},
      {"what would be a template", Quoting::quoted, "$${a}%%{b}", "${a}%{b}", {0, 0, 3, 4, 5, 5, 8, 9, 10}},
      {"dollars that are none", Quoting::quoted, "$$a%", "$$a%", {0, 1, 2, 3, 4}},
      {"indentation of a heredoc", Quoting::heredoc, "  a\n    b\n", "a\n  b\n", {2, 3, 6, 7, 8, 9, 10}},
      {"line ends of a heredoc", Quoting::heredoc, "a\r\nb\r\n", "a\nb\n", {0, 2, 3, 5, 6}},
      {"no escapes in a heredoc", Quoting::heredoc, "a\\n", "a\\n", {0, 1, 2, 3}},
      {"JSON", Quoting::json, R"(a\/\u00e4\ud83d\ude00)", "a/\xc3\xa4\xF0\x9F\x98\x80", {0, 1, 3, 3, 9, 9, 9, 9, 21}},
      {"no template", Quoting::json_literal, "$${a}", "$${a}", {0, 1, 2, 3, 4, 5}},
      {"blanks that a strip marker took", Quoting::quoted, "  a", "a", {}},
      {"cut short", Quoting::quoted, "a", "ab", {}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string file = "<<" + std::string(row.written) + ">>";
      Range range;
      range.start.byte = 2;
      range.end.byte = static_cast<std::uint32_t>(file.size() - 2);
      Places expected = row.places;
      for (std::size_t& place : expected) {
        place += 2;
      }
      BOOST_TEST(places_of(row.text, range, row.quoting, file) == expected, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_spelled_reads_back) {
  struct Row {
    const char* name;
    Quoting quoting;
    const char* text;
    const char* written;
  };
  constexpr Row kRows[] = {
      {"plain", Quoting::quoted, "v1.2.3", "v1.2.3"},
      {"escapes", Quoting::quoted, "\"\\\n\t", R"(\"\\\n\t)"},
      {"templates", Quoting::quoted, "${a}%{b}$", "$${a}%%{b}$"},
      {"heredoc", Quoting::heredoc, "\"${a}", "\"$${a}"},
      {"JSON", Quoting::json, "\"${a}\x01", R"(\"$${a}\u0001)"},
      {"JSON without templates", Quoting::json_literal, "\"${a}", R"(\"${a})"},
  };
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string written = spell(row.text, row.quoting);
      BOOST_TEST(written == row.written);
      Range range;
      range.end.byte = static_cast<std::uint32_t>(written.size());
      BOOST_TEST(places_of(row.text, range, row.quoting, written).size() == std::string(row.text).size() + 1);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
