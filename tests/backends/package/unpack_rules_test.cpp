#include "backends/package/unpack_rules.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

using namespace modlock;
using unpack::EntryType;
using unpack::Rules;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

Rules::PackedSize of_size(std::uint64_t size) {
  return [size](std::uint64_t) { return size; };
}

std::string shown(const Result<std::optional<unpack::Place>>& result) {
  if (!result) {
    BOOST_TEST((result.error().code == Code::archive_unsafe));
    return result.error().message;
  }
  if (!*result) {
    return "left out";
  }
  std::string text = (*result)->path + " [";
  for (const std::string& directory : (*result)->directories) {
    text += directory + ",";
  }
  return text + "]";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unpack_rules)

BOOST_AUTO_TEST_CASE(judges_one_name) {
  struct Row {
    const char* name;
    std::string entry;
    EntryType type;
    std::string expected;
  };
  constexpr EntryType kFile = EntryType::file;
  constexpr EntryType kDirectory = EntryType::directory;
  using namespace std::string_literals;
  const Row rows[] = {
      {"a file", "main.tf", kFile, "main.tf []"},
      {"below directories", "a/b/c", kFile, "a/b/c [a,a/b,]"},
      {"a directory", "a/b/", kDirectory, "a/b [a,a/b,]"},
      {"without a slash at its end", "a", kDirectory, "a [a,]"},
      {"the directory itself", "./", kDirectory, " []"},
      {"dots and slashes to be cleaned", "./a/.//b/.", kFile, "a/b [a,]"},
      {"a file with a slash at its end", "a/", kFile, "a []"},
      {"dots in a name", "..a/b../...", kFile, "..a/b../... [..a,..a/b..,]"},
      {"a backslash in a name", "a\\b", kFile, "a\\b []"},
      {"a colon in a name", "c:d", kFile, "c:d []"},
      {"what is no UTF-8", "a\xff", kFile, "a\xff []"},
      {"a line end", "a\nb", kFile, "a\nb []"},
      {"a directory of git", "a/.git/config", kFile, "left out"},
      {"a file of git", ".git", kFile, "left out"},
      {"much like git's", ".gitignore", kFile, ".gitignore []"},
      {"another version control", "CVS/.svn", kFile, "CVS/.svn [CVS,]"},
      {"up", "../a", kFile, R"(the entry "../a" of "x.zip" points outside it with "..")"},
      {"up, in the end", "a/..", kDirectory, R"(the entry "a/.." of "x.zip" points outside it with "..")"},
      {"up and down inside", "a/../b", kFile, R"(the entry "a/../b" of "x.zip" points outside it with "..")"},
      {"up with backslashes", "a\\..\\b", kFile, R"(the entry "a\..\b" of "x.zip" points outside it with "..")"},
      {"up in version control", ".git/../../a", kFile,
       R"(the entry ".git/../../a" of "x.zip" points outside it with "..")"},
      {"absolute", "/etc/passwd", kFile, R"(the entry "/etc/passwd" of "x.zip" has an absolute path)"},
      {"absolute with a backslash", "\\etc", kFile, R"(the entry "\etc" of "x.zip" has an absolute path)"},
      {"absolute with a drive", "c:\\a", kFile, R"(the entry "c:\a" of "x.zip" has an absolute path)"},
      {"the root", "/", kDirectory, R"(the entry "/" of "x.zip" has an absolute path)"},
      {"NUL", "a\0b"s, kFile, R"(the entry "a\x00b" of "x.zip" has a NUL in its name)"},
      {"a device", "null", EntryType::special, R"(the entry "null" of "x.zip" is a device, a pipe or a socket)"},
      {"no name", "", kFile, R"(the entry "" of "x.zip" is a file without a name)"},
      {"only dots", "./.", kFile, R"(the entry "./." of "x.zip" is a file without a name)"},
      {"a name of 255 bytes", std::string(255, 'a'), kFile, std::string(255, 'a') + " []"},
      {"a name of 256 bytes", std::string(256, 'a'), kFile,
       "the entry \"" + std::string(256, 'a') + "\" of \"x.zip\" has a name longer than 255 bytes"},
      {"a path of 2049 bytes", std::string(2049, 'a'), kFile,
       "the entry \"" + std::string(256, 'a') + "…\" of \"x.zip\" has a path longer than 2048 bytes"},
      {"control characters", "../\x1b[31m", kFile, R"(the entry "../\x1b[31m" of "x.zip" points outside it with "..")"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Rules rules("x.zip", of_size(1000), {});
      BOOST_TEST(shown(rules.place(row.entry, row.type)) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(judges_a_name_after_others) {
  struct Row {
    const char* name;
    std::vector<std::pair<std::string, EntryType>> before;
    std::pair<std::string, EntryType> entry;
    std::string expected;
  };
  constexpr EntryType kFile = EntryType::file;
  constexpr EntryType kDirectory = EntryType::directory;
  const Row rows[] = {
      {"directories that are there", {{"a/b", kFile}}, {"a/c", kFile}, "a/c []"},
      {"a directory twice", {{"a/", kDirectory}}, {"a/", kDirectory}, "a []"},
      {"a directory after what is in it", {{"a/b", kFile}}, {"a", kDirectory}, "a []"},
      {"case", {{"a", kFile}}, {"A", kFile}, "A []"},
      {"a file twice", {{"a", kFile}}, {"a", kFile}, R"(the entry "a" of "x.zip" occurs twice)"},
      {"a file twice, in other words",
       {{"a/b", kFile}},
       {"./a//b", kFile},
       R"(the entry "./a//b" of "x.zip" occurs twice)"},
      {"below a file", {{"a", kFile}}, {"a/b/c", kFile}, R"(the entry "a/b/c" of "x.zip" is below a file)"},
      {"a directory below a file",
       {{"a", kFile}},
       {"a/b/", kDirectory},
       R"(the entry "a/b/" of "x.zip" is below a file)"},
      {"a directory in the place of a file",
       {{"a", kFile}},
       {"a/", kDirectory},
       R"(the entry "a/" of "x.zip" is a directory and a file)"},
      {"a file in the place of a directory",
       {{"a/b", kFile}},
       {"a", kFile},
       R"(the entry "a" of "x.zip" is a directory and a file)"},
      {"what was left out twice", {{".git", kFile}}, {".git", kFile}, "left out"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Rules rules("x.zip", of_size(1000), {});
      for (const auto& [name, type] : row.before) {
        BOOST_TEST(rules.place(name, type).has_value());
      }
      BOOST_TEST(shown(rules.place(row.entry.first, row.entry.second)) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(counts_entries) {
  Rules rules("x.zip", of_size(1000), {.entries = 3});
  BOOST_TEST(shown(rules.place("a", EntryType::file)) == "a []");
  BOOST_TEST(shown(rules.place(".git", EntryType::file)) == "left out");
  BOOST_TEST(shown(rules.place("b", EntryType::file)) == "b []");
  BOOST_TEST(shown(rules.place("c", EntryType::file)) == R"(the entry "c" of "x.zip" is one more than the 3 allowed)");
}

BOOST_AUTO_TEST_CASE(counts_the_directories_that_entries_imply) {
  Rules rules("x.zip", of_size(1000), {.entries = 3});
  BOOST_TEST(shown(rules.place("a/b", EntryType::file)) == "a/b [a,]");
  BOOST_TEST(shown(rules.place("c/d/e", EntryType::file)) ==
             R"(the entry "c/d/e" of "x.zip" makes it exceed the 3 files and directories allowed)");
}

BOOST_AUTO_TEST_CASE(counts_the_bytes_of_names) {
  Rules rules("x.zip", of_size(1000), {.name_bytes = 6});
  BOOST_TEST(shown(rules.place("a/bc", EntryType::file)) == "a/bc [a,]");
  BOOST_TEST(shown(rules.place("d", EntryType::file)) == "d []");
  BOOST_TEST(shown(rules.place("e", EntryType::file)) ==
             R"(the entry "e" of "x.zip" makes the names exceed the 6 bytes allowed)");
}

BOOST_AUTO_TEST_CASE(judges_growth) {
  struct Row {
    const char* name;
    std::uint64_t packed;
    std::uint64_t total;
    std::vector<std::uint64_t> pieces;
    std::string expected;
  };
  const Row rows[] = {
      {"up to the limit", 1000, 100, {60, 40}, ""},
      {"over it", 1000, 100, {60, 41}, R"(the entry "f" of "x.zip" makes it exceed the 100 bytes allowed)"},
      {"a number that wraps round",
       1000,
       100,
       {60, ~std::uint64_t{0}},
       R"(the entry "f" of "x.zip" makes it exceed the 100 bytes allowed)"},
      {"a high ratio of little", 10, 1U << 30U, {16 * kMiB}, ""},
      {"a high ratio",
       10,
       1U << 30U,
       {16 * kMiB, 1},
       R"(the entry "f" of "x.zip" unpacks to over 200 times the size of the archive)"},
      {"the highest ratio", kMiB, 1U << 30U, {200 * kMiB}, ""},
      {"over it",
       kMiB,
       1U << 30U,
       {200 * kMiB, 200},
       R"(the entry "f" of "x.zip" unpacks to over 200 times the size of the archive)"},
      {"over both at once, the ratio lower",
       10,
       20 * kMiB,
       {30 * kMiB},
       R"(the entry "f" of "x.zip" unpacks to over 200 times the size of the archive)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Rules rules("x.zip", of_size(row.packed), {.total_bytes = row.total});
      std::string found;
      for (const std::uint64_t piece : row.pieces) {
        const auto judged = rules.grow("f", piece);
        found = judged ? "" : judged.error().message;
      }
      BOOST_TEST(found == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
