#include "plugin/config/roots.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(roots)

BOOST_AUTO_TEST_CASE(repository_root) {
  const TemporaryDirectory directory;
  directory.write("repo/.git/HEAD", "");
  directory.write("repo/live/prod/main.tf", "");
  directory.write("repo/sub/.git", "gitdir: elsewhere\n");
  directory.write("repo/sub/a/main.tf", "");
  directory.write("plain/a/main.tf", "");
  struct Row {
    const char* name;
    const char* root;
    const char* repository;
  };
  const Row rows[] = {
      {"itself", "repo", "repo"},
      {"above", "repo/live/prod", "repo"},
      {"trailing slash", "repo/live/prod/", "repo"},
      {"dots", "repo/live/../live/./prod", "repo"},
      {"a .git file counts", "repo/sub/a", "repo/sub"},
      {"none", "plain/a", "plain/a"},
      {"a directory that is not there", "repo/new/root", "repo"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(find_repository_root(directory / row.root) == directory / row.repository);
    }
  }
}

BOOST_AUTO_TEST_CASE(data_directories) {
  const TemporaryDirectory directory;
  directory.write("root/main.tf", "");
  directory.write("elsewhere/x", "");
  const fs::path root = directory / "root";
  BOOST_TEST(data_directory(root, std::nullopt).value() == root / ".terraform");
  BOOST_TEST(data_directory(root, "data/").value() == root / "data");
  BOOST_TEST(data_directory(root, "../data").value() == directory / "data");
  BOOST_TEST(data_directory(root, "/data").value() == fs::path("/data"));
  fs::create_directory_symlink("../elsewhere", root / ".terraform");
  const auto refused = data_directory(root, std::nullopt);
  BOOST_TEST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == Code::path_outside_root));
  BOOST_TEST(refused.error().message == "the data directory \"" + (root / ".terraform").string() +
                                            "\" is a link to a directory outside of the root");
  BOOST_TEST(refused.error().hint == "name its target with --data-dir, dataDir or TF_DATA_DIR");
  BOOST_TEST(data_directory(root, ".terraform").value() == root / ".terraform");
}

BOOST_AUTO_TEST_CASE(what_lies_plainly_below) {
  const TemporaryDirectory directory;
  directory.write("root/main.tf", "");
  directory.write("root/data/x", "");
  const fs::path root = directory / "root";
  fs::create_directory_symlink("data", root / "link");
  struct Row {
    const char* name;
    const char* path;
    bool is_below;
  };
  const Row rows[] = {
      {"a directory that is there", "data", true},
      {"one below it", "data/y/z", true},
      {"one that is not there", ".terraform", true},
      {"with dots", "data/../data/./x", true},
      {"itself", "", false},
      {"itself, with a slash", "./", false},
      {"beside it", "../other", false},
      {"of a name that starts alike", "../rooted", false},
      {"through a link", "link/x", false},
      {"a link", "link", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(lies_plainly_below(root / row.path, root) == row.is_below);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_data_directory_linked_inside_the_root_is_fine) {
  const TemporaryDirectory directory;
  directory.write("data/x", "");
  fs::create_directory_symlink("data", directory / ".terraform");
  BOOST_TEST(data_directory(directory.path(), std::nullopt).value() == directory / ".terraform");
}

BOOST_AUTO_TEST_CASE(confined) {
  const TemporaryDirectory directory;
  directory.write("a/in/x", "");
  directory.write("ab/x", "");
  directory.write("b/x", "");
  fs::create_directory_symlink("../b", directory / "a/out");
  fs::create_directory_symlink("in", directory / "a/inner");
  fs::create_symlink("new", directory / "a/to-nothing");
  fs::create_symlink("../a/in/new", directory / "a/in-by-way-of-out");
  fs::create_symlink("../new", directory / "a/out-to-nothing");
  fs::create_symlink("out-to-nothing/x", directory / "a/out-in-two-steps");
  fs::create_symlink("in/../../new", directory / "a/out-and-up");
  struct Row {
    const char* name;
    const char* path;
    const char* result;  // null: refused
  };
  const Row rows[] = {
      {"the bound itself", "a", "a"},
      {"below", "a/in/x", "a/in/x"},
      {"not there yet", "a/new/y", "a/new/y"},
      {"up and down", "a/in/../in/x", "a/in/x"},
      {"a link inside", "a/inner/x", "a/inner/x"},
      {"below what is not there", "a/new/deep/y", "a/new/deep/y"},
      {"below a file", "a/in/x/y/z", "a/in/x/y/z"},
      {"behind a link, as written", "a/out/../in", "a/in"},
      {"beside", "b/x", nullptr},
      {"the name is a prefix", "ab/x", nullptr},
      {"climbing out", "a/../b", nullptr},
      {"a link out", "a/out/x", nullptr},
      {"what is not there behind a link out", "a/out/new/y", nullptr},
      {"above", ".", nullptr},
      {"a link to nothing inside", "a/to-nothing", "a/to-nothing"},
      {"below a link to nothing inside", "a/to-nothing/y", "a/to-nothing/y"},
      {"a link that leaves and comes back", "a/in-by-way-of-out", "a/in-by-way-of-out"},
      {"a link to nothing outside", "a/out-to-nothing", nullptr},
      {"below a link to nothing outside", "a/out-to-nothing/y", nullptr},
      {"a link to a link to nothing outside", "a/out-in-two-steps", nullptr},
      {"a link to nothing that climbs out", "a/out-and-up", nullptr},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto result = confine(directory / row.path, {directory / "a"});
      BOOST_TEST_REQUIRE(result.has_value() == (row.result != nullptr));
      if (result) {
        BOOST_TEST(*result == directory / row.result);
      } else {
        BOOST_TEST((result.error().code == Code::path_outside_root));
      }
    }
  }
  BOOST_TEST(confine(directory / "b/x", {directory / "a", directory / "b"}).has_value());
  const auto refused = confine(directory / "b/x", {directory / "a", directory / "ab"});
  BOOST_TEST_REQUIRE(!refused.has_value());
  BOOST_TEST(refused.error().message == "the path \"" + (directory / "b/x").string() + "\" is outside \"" +
                                            (directory / "a").string() + "\" or \"" + (directory / "ab").string() +
                                            "\"");
  BOOST_TEST(refused.error().hint == "start with a directory that encloses it, or move it inside");
  directory.write("far/lock.hcl", "");
  fs::create_symlink(directory / "far/lock.hcl", directory / "a/lock.hcl");
  BOOST_TEST(confine(directory / "a/lock.hcl", {directory / "a"}).error().hint ==
             "allow the directory of its target: --workspace-root " + (directory / "far").string());
}

BOOST_AUTO_TEST_CASE(directories_of_git_are_out_of_bounds) {
  const TemporaryDirectory directory;
  directory.write("a/.git/modules/m/main.tf", "");
  fs::create_symlink(".git/modules", directory / "a/link");
  struct Row {
    const char* name;
    const char* path;
    std::vector<fs::path> bounds;
    bool is_inside;
  };
  const fs::path a = directory / "a";
  for (const Row& row : {
           Row{"the directory", "a/.git", {a}, false},
           Row{"below", "a/.git/modules/m/main.tf", {a}, false},
           Row{"not there yet", "a/b/.git/config", {a}, false},
           Row{"by a link", "a/link/m", {a}, false},
           Row{"of a bound in it", "a/.git/modules/m", {a, a / ".git/modules"}, true},
           Row{"by a link, of a bound in it", "a/link/m", {a, a / ".git/modules"}, true},
           Row{"a name that starts like it", "a/.github/x", {a}, true},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto result = confine(directory / row.path, row.bounds);
      BOOST_TEST_REQUIRE(result.has_value() == row.is_inside);
      if (!result) {
        BOOST_TEST(result.error().message ==
                   "the path \"" + (directory / row.path).string() + "\" leads into a directory of git");
        BOOST_TEST(result.error().hint == "use a file outside of it");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_link_cycle_is_an_error) {
  const TemporaryDirectory directory;
  fs::create_symlink("loop", directory / "loop");
  fs::create_symlink("longer/x", directory / "longer");
  for (const char* path : {"loop", "loop/x", "longer"}) {
    BOOST_TEST_CONTEXT(path) {
      const auto result = confine(directory / path, {directory.path()});
      BOOST_TEST_REQUIRE(!result.has_value());
      BOOST_TEST((result.error().code == Code::io_error));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
