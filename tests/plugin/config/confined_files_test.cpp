#include "plugin/config/confined_files.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/scope_setup.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

namespace {

// A root with links, beside a directory that is out of bounds.
struct Tree {
  TemporaryDirectory directory;
  fs::path root = directory / "repo/root";
  Documents documents;

  Tree() {
    directory.write("repo/root/a.txt", "a");
    directory.write("repo/root/sub/b.txt", "b");
    directory.write("repo/root/sub/.hidden", "h");
    directory.write("repo/common/c.txt", "c");
    directory.write("repo/.git/config", "g");
    directory.write("out/d.txt", "d");
    fs::create_symlink("../../out/d.txt", root / "link-out.txt");
    fs::create_symlink("../common/c.txt", root / "link-in.txt");
    fs::create_directory_symlink("../../out", root / "dir-out");
    fs::create_directory_symlink("../../common", root / "sub/dir-in");
    fs::create_directory_symlink("..", root / "sub/loop");
    documents.emplace(root / "a.txt", "overlaid");
    documents.emplace(root / "new/e.txt", "e");
  }

  std::shared_ptr<const eval::FileAccess> files() const {
    return make_confined_files(root, {directory / "repo"}, documents);
  }
  // A message without the path of the directory.
  std::string show(const Error& error) const {
    std::string text = std::string(to_string(error.code)) + " " + error.message;
    const std::string prefix = directory.path().string();
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
      text.replace(at, prefix.size(), "@");
    }
    return text;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(confined_files)

BOOST_AUTO_TEST_CASE(reading) {
  const Tree tree;
  const auto files = tree.files();
  struct Row {
    const char* name;
    std::string path;
    std::string_view text;
  };
  const Row rows[] = {
      {"the overlay wins", "a.txt", "overlaid"},
      {"only in the overlay", "new/e.txt", "e"},
      {"on the disk", "./sub/../sub/b.txt", "b"},
      {"within the bounds", "../common/c.txt", "c"},
      {"absolute", (tree.root / "sub/b.txt").string(), "b"},
      {"a link within the bounds", "link-in.txt", "c"},
      {"a link out", "link-out.txt", "PATH_OUTSIDE_ROOT the path \"@/repo/root/link-out.txt\" is outside \"@/repo\""},
      {"through a link out", "dir-out/d.txt",
       "PATH_OUTSIDE_ROOT the path \"@/repo/root/dir-out/d.txt\" is outside \"@/repo\""},
      {"above", "../../out/d.txt", "PATH_OUTSIDE_ROOT the path \"@/out/d.txt\" is outside \"@/repo\""},
      {"absolute out", "/etc/passwd", "PATH_OUTSIDE_ROOT the path \"/etc/passwd\" is outside \"@/repo\""},
      {"of the user", "~/x", "PATH_OUTSIDE_ROOT the path \"~/x\" starts at a home directory"},
      {"of git", "../.git/config", "PATH_OUTSIDE_ROOT the path \"@/repo/.git/config\" leads into a directory of git"},
      {"of git, not there", ".git/config",
       "PATH_OUTSIDE_ROOT the path \"@/repo/root/.git/config\" leads into a directory of git"},
      {"a name like that of git", ".gitignore", "NOT_FOUND the file \".gitignore\" does not exist"},
      {"not there", "nothing.txt", "NOT_FOUND the file \"nothing.txt\" does not exist"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto text = files->read(row.path);
      BOOST_TEST((text ? *text : tree.show(text.error())) == row.text);
    }
  }
  const auto directory = files->read("sub");
  BOOST_TEST_REQUIRE(!directory.has_value());
  BOOST_TEST(to_string(directory.error().code) == "IO_ERROR");
  BOOST_TEST(files->working_directory() == tree.root.string());
}

BOOST_AUTO_TEST_CASE(existence) {
  const Tree tree;
  BOOST_TEST_REQUIRE(::mkfifo((tree.root / "pipe").c_str(), 0600) == 0);
  const auto files = tree.files();
  struct Row {
    const char* name;
    std::string path;
    std::string_view answer;
  };
  const Row rows[] = {
      {"on the disk", "sub/b.txt", "yes"},
      {"in the overlay", "new/e.txt", "yes"},
      {"not there", "sub/c.txt", "no"},
      {"below a file", "sub/b.txt/c", "no"},
      {"a directory", "sub", "IO_ERROR \"sub\" is a directory, not a file"},
      {"a pipe", "pipe", "IO_ERROR \"pipe\" is a device, a pipe or a socket, not a file"},
      {"out", "../../out/d.txt", "PATH_OUTSIDE_ROOT the path \"@/out/d.txt\" is outside \"@/repo\""},
      {"of git", "../.git/HEAD", "PATH_OUTSIDE_ROOT the path \"@/repo/.git/HEAD\" leads into a directory of git"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto answer = files->exists(row.path);
      BOOST_TEST((answer ? (*answer ? "yes" : "no") : tree.show(answer.error())) == row.answer);
    }
  }
}

BOOST_AUTO_TEST_CASE(listing) {
  const Tree tree;
  const auto files = tree.files();
  struct Row {
    const char* name;
    std::string directory;
    std::string_view names;
  };
  const Row rows[] = {
      {"all below, links out and loops left out", ".",
       "a.txt link-in.txt new/e.txt sub/.hidden sub/b.txt sub/dir-in/c.txt "},
      {"of a subdirectory", "sub", ".hidden b.txt dir-in/c.txt loop/a.txt loop/link-in.txt "},
      {"only in the overlay", "new", "e.txt "},
      {"not there", "nothing", "NOT_FOUND the directory \"nothing\" does not exist"},
      {"a file", "sub/b.txt", "NOT_FOUND the directory \"sub/b.txt\" does not exist"},
      {"out", "dir-out", "PATH_OUTSIDE_ROOT the path \"@/repo/root/dir-out\" is outside \"@/repo\""},
      {"of git", "../.git", "PATH_OUTSIDE_ROOT the path \"@/repo/.git\" leads into a directory of git"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto names = files->list(row.directory);
      std::string text;
      for (const std::string& name : names.value_or(std::vector<std::string>{})) {
        text += name + " ";
      }
      BOOST_TEST((names ? text : tree.show(names.error())) == row.names);
    }
  }
}

BOOST_AUTO_TEST_CASE(limits) {
  const TemporaryDirectory directory;
  directory.write("big", "x");
  fs::resize_file(directory / "big", kMaxReadBytes + 1);
  const auto files = make_confined_files(directory.path(), {directory.path()}, {});
  const auto text = files->read("big");
  BOOST_TEST_REQUIRE(!text.has_value());
  BOOST_TEST(show(text.error()) == "LIMIT_EXCEEDED -: the file \"big\" has 67108865 bytes, at most 67108864 are read");
}

BOOST_AUTO_TEST_SUITE_END()
