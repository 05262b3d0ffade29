#include "backends/git/line_diff.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>

using namespace modlock::git;

namespace {

using Lines = std::vector<std::string_view>;

std::string apply(const Lines& before, const Lines& after, const std::vector<LineChange>& changes) {
  std::string result;
  std::size_t line = 0;
  for (const LineChange& change : changes) {
    for (; line < change.before_start; ++line) {
      result += before[line];
    }
    for (std::size_t i = change.after_start; i < change.after_end; ++i) {
      result += after[i];
    }
    line = change.before_end;
  }
  for (; line < before.size(); ++line) {
    result += before[line];
  }
  return result;
}

std::string join(const Lines& lines) {
  std::string result;
  for (const std::string_view line : lines) {
    result += line;
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(line_diff)

BOOST_AUTO_TEST_CASE(lines_keep_their_ends) {
  struct Row {
    const char* name;
    std::string_view text;
    Lines lines;
  };
  const Row rows[] = {
      {"empty", "", {}},
      {"one", "a\n", {"a\n"}},
      {"no final end", "a\nb", {"a\n", "b"}},
      {"blank", "\n\n", {"\n", "\n"}},
      {"crlf", "a\r\nb\r\n", {"a\r\n", "b\r\n"}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(split_lines(row.text) == row.lines, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(changes) {
  struct Row {
    const char* name;
    std::string_view before;
    std::string_view after;
    std::vector<LineChange> changes;
  };
  const Row rows[] = {
      {"equal", "a\nb\n", "a\nb\n", {}},
      {"all new", "", "a\nb\n", {{0, 0, 0, 2}}},
      {"all gone", "a\nb\n", "", {{0, 2, 0, 0}}},
      {"replaced", "a\nb\nc\n", "a\nx\nc\n", {{1, 2, 1, 2}}},
      {"two", "a\nb\nc\nd\n", "x\nb\nc\ny\n", {{0, 1, 0, 1}, {3, 4, 3, 4}}},
      {"final end lost", "a\nb\n", "a\nb", {{1, 2, 1, 2}}},
      {"insertion stands as low as it can", "m\n}\n\n", "m\n}\n\nn\n}\n\n", {{3, 3, 3, 6}}},
      {"removal stands as low as it can", "m\n}\n\nn\n}\n\np\n", "m\n}\n\np\n", {{3, 6, 3, 3}}},
      {"equal lines join", "a\na\na\n", "a\n", {{1, 3, 1, 1}}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST((diff_lines(row.before, row.after) == row.changes));
    }
  }
}

BOOST_AUTO_TEST_CASE(generated_diffs_are_right) {
  std::mt19937 random(20240607);
  static const std::string_view kAlphabet[] = {"a\n", "b\n", "c\n", "d\n", "}\n", "\n"};
  for (int round = 0; round < 5000; ++round) {
    Lines before(random() % 14);
    Lines after(random() % 14);
    const std::size_t letters = 1 + random() % std::size(kAlphabet);
    for (Lines* lines : {&before, &after}) {
      std::generate(lines->begin(), lines->end(), [&] { return kAlphabet[random() % letters]; });
    }
    const std::vector<LineChange> changes = diff_lines(join(before), join(after));
    BOOST_TEST_CONTEXT("round " << round) {
      BOOST_TEST_REQUIRE(apply(before, after, changes) == join(after));
      for (std::size_t i = 1; i < changes.size(); ++i) {
        BOOST_TEST_REQUIRE(changes[i - 1].before_end < changes[i].before_start);
        BOOST_TEST_REQUIRE(changes[i - 1].after_end < changes[i].after_start);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
