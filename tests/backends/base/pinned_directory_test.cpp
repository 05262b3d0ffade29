#include "backends/base/pinned_directory.h"

#include <boost/test/unit_test.hpp>

#include "backends/base/files.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

namespace fs = std::filesystem;

struct Pinned {
  Pinned() {
    fs::create_directories(directory / "base/a/b");
    fs::create_directories(directory / "outside/b");
    fs::create_directory_symlink("a", base / "link");
    fs::create_directory_symlink(directory / "outside", base / "out");
    fs::create_directory_symlink("nothing", base / "dangling");
    fs::create_directory_symlink("base", directory / "to-base");
    write_text(base / "file", "");
  }
  TemporaryDirectory directory;
  fs::path base = directory / "base";
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pinned_directories, Pinned)

BOOST_AUTO_TEST_CASE(opens_directories_but_no_links) {
  struct Row {
    const char* relative;
    bool opens;
    bool is_made;
  };
  for (const Row& row : {Row{"", true, true}, Row{"a", true, true}, Row{"a/b", true, true}, Row{"link", false, false},
                         Row{"link/b", false, false}, Row{"out", false, false}, Row{"out/b", false, false},
                         Row{"out/new", false, false}, Row{"dangling", false, false}, Row{"dangling/new", false, false},
                         Row{"../outside", false, false}, Row{"file", false, false}, Row{"file/x", false, false},
                         Row{"missing", false, true}, Row{"a/missing/too", false, true}}) {
    for (const fs::path& from : {base, directory / "to-base"}) {
      BOOST_TEST_CONTEXT(row.relative << " below " << from) {
        fs::remove_all(base / "missing");
        fs::remove_all(base / "a/missing");
        const auto opened = PinnedDirectory::open(from, row.relative);
        BOOST_TEST(opened.has_value() == row.opens);
        if (!opened) {
          BOOST_TEST(to_string(opened.error().code) == "IO_ERROR");
          BOOST_TEST(opened.error().message.find(from.string()) != std::string::npos, opened.error().message);
        }
        const auto made = PinnedDirectory::open_or_make(from, row.relative);
        BOOST_TEST(made.has_value() == row.is_made);
        BOOST_TEST((!made || fs::equivalent(made->path(), base / row.relative)));
      }
    }
  }
  BOOST_TEST(fs::is_empty(directory / "outside/b"));
  BOOST_TEST(!fs::exists(directory / "outside/new"));
  BOOST_TEST(!fs::exists(base / "nothing"));
}

BOOST_AUTO_TEST_CASE(what_is_written_lands_in_the_directory_that_was_opened) {
  const auto pinned = PinnedDirectory::open(base, "a");
  BOOST_REQUIRE(pinned.has_value());
  write_text(directory / "outside/b/precious", "");
  fs::rename(base / "a", base / "moved");
  fs::create_directory_symlink(directory / "outside", base / "a");
  BOOST_TEST(write_file_atomically(pinned->path() / "file", "x").has_value());
  BOOST_TEST(copy_tree(directory / "outside", pinned->path() / "tree").has_value());
  BOOST_TEST(remove_tree(pinned->path() / "b").has_value());
  const auto made = pinned->make("made");
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(write_file_atomically(made->path() / "file", "y").has_value());
  BOOST_TEST(read_text(base / "moved/file") == "x");
  BOOST_TEST(read_text(base / "moved/made/file") == "y");
  BOOST_TEST(fs::exists(base / "moved/tree/b/precious"));
  BOOST_TEST(!fs::exists(base / "moved/b"));
  BOOST_TEST((fs::status(base / "moved/made").permissions() == fs::perms::owner_all));
  BOOST_TEST(std::distance(fs::recursive_directory_iterator(directory / "outside"), {}) == 2);
}

BOOST_AUTO_TEST_CASE(errors_name_the_real_path) {
  const auto pinned = PinnedDirectory::open(base, "a");
  BOOST_REQUIRE(pinned.has_value());
  const std::string path = pinned->path().string();
  const std::string real = (base / "a").string();
  const Error error = pinned->with_real_path({.message = path + "/x and " + path + "0 and " + path,
                                              .location = Location{.path = path + "/y"},
                                              .notes = {"in " + path},
                                              .hint = path});
  BOOST_TEST(error.message == real + "/x and " + path + "0 and " + real);
  BOOST_TEST(error.location->path == real + "/y");
  BOOST_TEST(error.notes.at(0) == "in " + real);
  BOOST_TEST(error.hint == real);
  BOOST_TEST(pinned->make("b").error().message == "cannot make the directory \"" + real + "/b\": File exists");
}

BOOST_AUTO_TEST_SUITE_END()
