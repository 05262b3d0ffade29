#include "plugin/install/tree_difference.h"

#include <boost/test/unit_test.hpp>

#include "backends/base/digest.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;

namespace {

TreeSummary tree(std::vector<FileDigest> files) {
  return {.files = std::move(files)};
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + ";";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(tree_difference_tells_what_a_client_would_load_from_what_it_would_not) {
  struct Row {
    const char* name;
    std::vector<FileDigest> locked;
    std::vector<FileDigest> installed;
    const char* tampered;
    const char* harmless;
  };
  const Row rows[] = {
      {"same", {{"main.tf", "1"}}, {{"main.tf", "1"}}, "", ""},
      {"changed", {{"main.tf", "1"}}, {{"main.tf", "2"}}, "main.tf was changed;", ""},
      {"deleted", {{"a.txt", "1"}, {"main.tf", "1"}}, {{"main.tf", "1"}}, "a.txt was deleted;", ""},
      {"dotfile missing", {{".gitignore", "1"}, {"main.tf", "1"}}, {{"main.tf", "1"}}, "", ".gitignore was deleted;"},
      {"file below a dot directory missing", {{".github/x", "1"}}, {}, "", ".github/x was deleted;"},
      {"dotfile changed", {{".gitignore", "1"}}, {{".gitignore", "2"}}, ".gitignore was changed;", ""},
      {"configuration added",
       {},
       {{"evil.tf", "1"}, {"sub/evil.tofu.json", "1"}},
       "evil.tf was added;sub/evil.tofu.json was added;",
       ""},
      {"names that OpenTofu never loads", {}, {{".evil.tf", "1"}}, "", ".evil.tf was added;"},
      {"configuration added below a dot directory", {}, {{".x/evil.tf", "1"}}, ".x/evil.tf was added;", ""},
      {"other file added",
       {{"main.tf", "1"}},
       {{"a.zip", "1"}, {"main.tf", "1"}, {"z.zip", "1"}},
       "",
       "a.zip was added;z.zip was added;"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const test::TemporaryDirectory package;
      const TreeDifference difference = compare_trees(tree(row.locked), tree(row.installed), package.path());
      BOOST_TEST(joined(difference.tampered) == row.tampered);
      BOOST_TEST(joined(difference.harmless) == row.harmless);
    }
  }
}

BOOST_AUTO_TEST_CASE(tree_difference_knows_what_became_of_links_to_dotfiles) {
  struct Row {
    const char* name;
    const char* target;
    std::vector<FileDigest> installed;
    const char* tampered;
    const char* harmless;
  };
  const std::vector<FileDigest> locked = {{".shared.tf", "1"}, {"main.tf", "1"}, {"other.tf", "2"}};
  const Row rows[] = {
      {"left alone by a copy",
       ".shared.tf",
       {{"main.tf", "t"}, {"other.tf", "2"}},
       "",
       ".shared.tf was deleted;main.tf links to a file that was deleted;"},
      {"led to another file",
       ".else.tf",
       {{"main.tf", "t"}, {"other.tf", "2"}},
       "main.tf was changed;",
       ".shared.tf was deleted;"},
      {"the dotfile is there",
       ".shared.tf",
       {{".shared.tf", "1"}, {"main.tf", "t"}, {"other.tf", "2"}},
       "main.tf was changed;",
       ""},
      {"to a file that a copy has",
       "other.tf",
       {{"main.tf", "t"}},
       "main.tf was changed;other.tf was deleted;",
       ".shared.tf was deleted;"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const test::TemporaryDirectory package;
      std::filesystem::create_symlink(row.target, package.path() / "main.tf");
      const TreeDifference difference = compare_trees(tree(locked), tree(row.installed), package.path());
      BOOST_TEST(joined(difference.tampered) == row.tampered);
      BOOST_TEST(joined(difference.harmless) == row.harmless);
    }
  }
}

BOOST_AUTO_TEST_CASE(tree_difference_knows_line_endings_that_git_converted) {
  struct Row {
    const char* name;
    const char* locked;
    const char* installed;
    const char* tampered;
    std::size_t line_endings;
  };
  const Row rows[] = {
      {"all lines", "a\nb\n", "a\r\nb\r\n", "main.tf was changed: its line endings are CRLF;", 1},
      {"no end of the last line", "a\nb", "a\r\nb", "main.tf was changed: its line endings are CRLF;", 1},
      {"other text too", "a\nb\n", "a\r\nc\r\n", "main.tf was changed;", 0},
      {"CR without LF", "a\nb\n", "a\rb\r", "main.tf was changed;", 0},
      {"CRLF in the locked file", "a\r\n", "a\n", "main.tf was changed;", 0},
      {"nothing is left", "", "\r", "main.tf was changed;", 0},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const test::TemporaryDirectory package;
      test::write_text(package.path() / "main.tf", row.installed);
      const TreeDifference difference = compare_trees(tree({{"main.tf", sha256_hex(row.locked)}}),
                                                      tree({{"main.tf", sha256_hex(row.installed)}}), package.path());
      BOOST_TEST(joined(difference.tampered) == row.tampered);
      BOOST_TEST(difference.line_endings == row.line_endings);
    }
  }
}

BOOST_AUTO_TEST_CASE(tree_difference_knows_content_by_its_lfs_pointer) {
  const std::string content = sha256_hex("content");
  const auto pointer_of = [](const std::string& oid, const std::string& size) {
    return sha256_hex("version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize " + size + "\n");
  };
  struct Row {
    const char* name;
    std::string locked;
    const char* tampered;
    const char* from_pointers;
  };
  const Row rows[] = {
      {"what the pointer names", pointer_of(content, "7"), "", "f.zip is the content that its Git LFS pointer names;"},
      {"other content", pointer_of(sha256_hex("other"), "7"), "f.zip was changed;", ""},
      {"a pointer that names another size", pointer_of(content, "8"), "f.zip was changed;", ""},
      {"no pointer", sha256_hex("else"), "f.zip was changed;", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const test::TemporaryDirectory package;
      test::write_text(package.path() / "f.zip", "content");
      const TreeDifference difference =
          compare_trees(tree({{"f.zip", row.locked}}), tree({{"f.zip", content}}), package.path());
      BOOST_TEST(joined(difference.tampered) == row.tampered);
      BOOST_TEST(joined(difference.harmless) == "");
      BOOST_TEST(joined(difference.from_pointers) == row.from_pointers);
    }
  }
}
