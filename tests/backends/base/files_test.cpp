#include "backends/base/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

#include "tests/support/needs.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::kMount;
using modlock::test::mode_of;
using modlock::test::needs;
using modlock::test::SmallDisk;
using modlock::test::TemporaryDirectory;
using modlock::test::write_text;
namespace fs = std::filesystem;

namespace {

std::ptrdiff_t entries_in(const fs::path& directory) {
  return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
}

template <typename T>
void check_error(const Result<T>& result, std::string_view code, const std::string& message) {
  BOOST_REQUIRE(!result.has_value());
  BOOST_TEST(to_string(result.error().code) == code);
  BOOST_TEST(result.error().message == message);
}

std::string quoted(const fs::path& path) {
  return "\"" + path.string() + "\"";
}

boost::test_tools::assertion_result is_bound_by_modes(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(::geteuid() != 0);
  result.message() << "needs a user other than root";
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(files)

BOOST_AUTO_TEST_CASE(reads_whole_files) {
  const TemporaryDirectory directory;
  std::string large(3000000, 'l');
  large[1234567] = '\0';
  for (const std::string& bytes : {std::string(), std::string("a\r\n\0b", 5), large}) {
    write_text(directory / "file", bytes);
    BOOST_TEST((read_file(directory / "file") == bytes));
  }
  // Its size is said to be 0.
  BOOST_TEST(read_file("/proc/self/status").value().find("Name:") == 0U);
  BOOST_TEST(read_file("/dev/null").value().empty());
}

BOOST_AUTO_TEST_CASE(says_why_a_file_cannot_be_read) {
  const TemporaryDirectory directory;
  write_text(directory / "file", "");
  BOOST_REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("loop", directory / "loop");
  struct Row {
    const char* name;
    fs::path path;
    const char* code;
    const char* reason;
  };
  const Row rows[] = {
      {"absent", directory / "none", "NOT_FOUND", "No such file or directory"},
      {"below a file", directory / "file" / "x", "NOT_FOUND", "Not a directory"},
      {"a directory", directory.path(), "IO_ERROR", "Is a directory"},
      {"a pipe", directory / "pipe", "IO_ERROR", "not a regular file"},
      {"an endless device", "/dev/zero", "IO_ERROR", "not a regular file"},
      {"a link to itself", directory / "loop", "IO_ERROR", "Too many levels of symbolic links"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      check_error(read_file(row.path), row.code, "cannot read " + quoted(row.path) + ": " + row.reason);
    }
  }
}

BOOST_AUTO_TEST_CASE(writes_and_keeps_the_mode) {
  const TemporaryDirectory directory;
  const fs::path path = directory / "file";
  const mode_t before = ::umask(022);
  BOOST_REQUIRE(write_file_atomically(path, "one").has_value());
  BOOST_TEST(mode_of(path) == 0644U);
  ::chmod(path.c_str(), 0600);
  BOOST_REQUIRE(write_file_atomically(path, std::string("t\0wo", 4)).has_value());
  BOOST_TEST(mode_of(path) == 0600U);
  ::umask(before);
  BOOST_TEST((read_file(path) == std::string("t\0wo", 4)));
  BOOST_TEST(entries_in(directory.path()) == 1);
}

BOOST_AUTO_TEST_CASE(writes_pieces) {
  const TemporaryDirectory directory;
  const fs::path path = directory / "file";
  std::size_t count = 0;
  std::string piece;
  const auto next = [&]() -> std::string_view { return piece = count < 3 ? std::to_string(++count) : ""; };
  BOOST_REQUIRE(write_file_atomically(path, next).has_value());
  BOOST_TEST((read_file(path) == std::string("123")));
}

BOOST_AUTO_TEST_CASE(writes_beside_the_working_directory_and_under_the_longest_name) {
  const TemporaryDirectory directory;
  const fs::path here = fs::current_path();
  fs::current_path(directory.path());
  BOOST_TEST(write_file_atomically("plain", "x", Durable::no).has_value());
  fs::current_path(here);
  BOOST_TEST(write_file_atomically(directory / std::string(255, 'n'), "x").has_value());
  BOOST_TEST(entries_in(directory.path()) == 2);
}

BOOST_AUTO_TEST_CASE(replaces_a_link_and_not_its_target) {
  const TemporaryDirectory directory;
  write_text(directory / "target", "old");
  fs::create_symlink("target", directory / "link");
  BOOST_REQUIRE(write_file_atomically(directory / "link", "new").has_value());
  BOOST_TEST(fs::is_regular_file(fs::symlink_status(directory / "link")));
  BOOST_TEST(read_file(directory / "target").value() == "old");
}

BOOST_AUTO_TEST_CASE(says_why_a_file_cannot_be_written) {
  const TemporaryDirectory directory;
  fs::create_directory(directory / "sub");
  check_error(write_file_atomically(directory / "none/file", "x"), "IO_ERROR",
              "cannot write " + quoted(directory / "none/file") + ": No such file or directory");
  check_error(write_file_atomically(directory / "sub", "x"), "IO_ERROR",
              "cannot write " + quoted(directory / "sub") + ": Is a directory");
  BOOST_TEST(entries_in(directory.path()) == 1);
}

BOOST_AUTO_TEST_CASE(readers_see_the_old_or_the_new) {
  const TemporaryDirectory directory;
  const fs::path path = directory / "file";
  const std::string ones(100000, '1');
  const std::string twos(100000, '2');
  write_text(path, ones);
  std::jthread writer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      (void)write_file_atomically(path, twos, Durable::no);
      (void)write_file_atomically(path, ones, Durable::no);
    }
  });
  for (int i = 0; i < 200; ++i) {
    const auto text = read_file(path);
    BOOST_REQUIRE(text.has_value());
    BOOST_REQUIRE((*text == ones || *text == twos));
  }
}

BOOST_AUTO_TEST_CASE(a_full_disk_leaves_what_was_there, *needs(kMount)) {
  const SmallDisk disk;
  write_text(disk / "file", "precious");
  const auto written = write_file_atomically(disk / "file", std::string(200000, 'x'));
  check_error(written, "IO_ERROR", "cannot write " + quoted(disk / "file") + ": No space left on device");
  BOOST_TEST(written.error().hint == "free some space there, then run it again");
  BOOST_TEST(read_file(disk / "file").value() == "precious");
  BOOST_TEST(entries_in(disk.path()) == 1);
}

BOOST_AUTO_TEST_CASE(a_read_only_file_system_is_named, *needs(kMount)) {
  const SmallDisk disk;
  write_text(disk / "file", "precious");
  BOOST_REQUIRE(disk.make_read_only());
  const auto written = write_file_atomically(disk / "file", "x");
  check_error(written, "IO_ERROR", "cannot write " + quoted(disk / "file") + ": Read-only file system");
  BOOST_TEST(written.error().hint ==
             "the file system is mounted read-only: make it writable or choose another directory");
  check_error(make_directories(disk / "a/b"), "IO_ERROR",
              "cannot make the directory " + quoted(disk / "a") + ": Read-only file system");
  check_error(remove_tree(disk / "file"), "IO_ERROR",
              "cannot remove " + quoted(disk / "file") + ": Read-only file system");
  BOOST_TEST(read_file(disk / "file").value() == "precious");
}

BOOST_AUTO_TEST_CASE(a_directory_without_permission_is_named, *boost::unit_test::precondition(is_bound_by_modes)) {
  const TemporaryDirectory directory;
  write_text(directory / "closed/file", "precious");
  ::chmod((directory / "closed").c_str(), 0555);
  const auto written = write_file_atomically(directory / "closed/file", "x");
  check_error(written, "IO_ERROR", "cannot write " + quoted(directory / "closed/file") + ": Permission denied");
  BOOST_TEST(written.error().hint == "give the user that runs this permission there");
}

BOOST_AUTO_TEST_CASE(removes_what_a_killed_write_left) {
  struct Row {
    const char* name;
    std::string file;
    bool goes;             // as one of "lock.hcl"
    bool goes_with_every;  // where any file is meant
  };
  const Row rows[] = {
      {"of the file", ".lock.hcl.0123456789abcdef", true, true},
      {"of another", ".other.hcl.0123456789abcdef", false, true},
      {"of one whose name is longer", ".lock.hcl.x.0123456789abcdef", false, true},
      {"of one without a name", "..0123456789abcdef", false, false},
      {"the file", "lock.hcl", false, false},
      {"too short", ".lock.hcl.0123456789abcde", false, false},
      {"no number", ".lock.hcl.0123456789abcdeg", false, false},
      {"a visible one", "lock.hcl.0123456789abcdef", false, false},
      {"somebody's own", ".lock.hcl.swp", false, false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      write_text(directory / row.file, "x");
      remove_unfinished_writes(directory.path(), "lock.hcl");
      BOOST_TEST(fs::exists(directory / row.file) == !row.goes);
      write_text(directory / row.file, "x");
      remove_unfinished_writes(directory.path());
      BOOST_TEST(fs::exists(directory / row.file) == !row.goes_with_every);
      fs::remove(directory / row.file);
      write_text(directory / row.file / "x", "x");
      remove_unfinished_writes(directory.path(), "lock.hcl");
      BOOST_TEST(fs::exists(directory / row.file) == !row.goes);
    }
  }
  remove_unfinished_writes("/nonexistent");
}

BOOST_AUTO_TEST_CASE(renames_files_and_trees) {
  const TemporaryDirectory directory;
  fs::create_directories(directory / "tree/sub");
  write_text(directory / "a", "1");
  write_text(directory / "tree/sub/b", "2");
  write_text(directory / "to", "old");
  BOOST_TEST(rename_durably(directory / "a", directory / "to").has_value());
  BOOST_TEST(read_file(directory / "to").value() == "1");
  BOOST_TEST(!fs::exists(directory / "a"));
  BOOST_TEST(rename_durably(directory / "tree", directory / "moved").has_value());
  BOOST_TEST(read_file(directory / "moved/sub/b").value() == "2");

  const auto failed = rename_durably(directory / "none", directory / "to");
  BOOST_REQUIRE(!failed.has_value());
  BOOST_TEST((failed.error().code == Code::io_error));
  BOOST_TEST(failed.error().message ==
             "cannot write \"" + (directory / "none").string() + "\": No such file or directory");
  BOOST_TEST(read_file(directory / "to").value() == "1");
}

BOOST_AUTO_TEST_CASE(makes_directories) {
  const TemporaryDirectory directory;
  BOOST_TEST(make_directories(directory / "a/b/c").has_value());
  BOOST_TEST(make_directories(directory / "a/b/c/").has_value());
  BOOST_TEST(make_directories("").has_value());
  BOOST_TEST(fs::is_directory(directory / "a/b/c"));
  write_text(directory / "file", "");
  check_error(make_directories(directory / "file/sub"), "IO_ERROR",
              "cannot make the directory " + quoted(directory / "file") + ": File exists");
}

BOOST_AUTO_TEST_CASE(removes_trees_but_never_through_links) {
  const TemporaryDirectory directory;
  write_text(directory / "outside/precious", "");
  write_text(directory / "tree/closed/file", "");
  fs::create_directory_symlink("../outside", directory / "tree/link");
  fs::create_symlink("nowhere", directory / "tree/dangling");
  ::chmod((directory / "tree/closed").c_str(), 0);
  BOOST_TEST(remove_tree(directory / "tree").has_value());
  BOOST_TEST(!fs::exists(directory / "tree"));

  fs::create_directory_symlink("outside", directory / "link");
  BOOST_TEST(remove_tree(directory / "link").has_value());
  BOOST_TEST(fs::exists(directory / "outside/precious"));
  BOOST_TEST(remove_tree(directory / "none/at/all").has_value());
  BOOST_TEST(remove_tree(directory / "outside/precious").has_value());
  BOOST_TEST(entries_in(directory / "outside") == 0);
}

BOOST_AUTO_TEST_CASE(two_may_remove_one_tree) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 200; ++i) {
    write_text(directory / "tree" / std::to_string(i % 10) / std::to_string(i), "");
  }
  std::vector<Result<void>> results(2);
  {
    std::jthread other([&] { results[0] = remove_tree(directory / "tree"); });
    results[1] = remove_tree(directory / "tree");
  }
  BOOST_TEST(results[0].has_value());
  BOOST_TEST(results[1].has_value());
}

BOOST_AUTO_TEST_SUITE_END()
