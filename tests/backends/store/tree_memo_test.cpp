#include "backends/store/tree_memo.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <ctime>
#include <utility>

#include "backends/package/tree_hash.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::read_text;
using modlock::test::TemporaryDirectory;
using modlock::test::write_text;
namespace fs = std::filesystem;

namespace {

std::pair<time_t, long> clock_time(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return {time.tv_sec, time.tv_nsec};
}

// Until the clock that stamps files is past all that has been written.
void let_the_clock_tick() {
  for (const auto now = clock_time(CLOCK_REALTIME); clock_time(CLOCK_REALTIME_COARSE) <= now;) {
  }
}

struct Installed {
  TemporaryDirectory directory;
  Store store = Store::open(directory / "store").value();
  fs::path package = directory / "package";

  Installed() {
    write_text(package / "main.tf", "# main\n");
    write_text(package / "sub/more.tf", "# more\n");
  }

  std::string h1(bool full = false) const {
    let_the_clock_tick();
    return hash_installed(store, package, {.full = full, .threads = 2}, Context{}).value();
  }
  std::string summary() const { return summarise_installed(store, package, {.threads = 2}, Context{}).value().h1(); }
  std::string truth() const { return hash_tree(package, Context{}).value(); }

  bool has_memo() const { return fs::exists(store.tree_directory()); }
  fs::path memo() const { return fs::directory_iterator(store.tree_directory())->path(); }

  // Puts another h1 and another digest of the first file into the memo: who then still gives the true hash has read the
  // file.
  void falsify_memo() const {
    const std::string text = read_text(memo());
    tree_memo::Memo known = tree_memo::read(text);
    known.h1 = known.h1.empty() ? "" : "h1:another";
    known.files.at(0).sha256.at(0) ^= 1U;
    write_text(memo(), tree_memo::write(known));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(installed_tree, Installed)

BOOST_AUTO_TEST_CASE(memo_spares_hashing_what_did_not_change) {
  BOOST_TEST(h1() == truth());
  BOOST_TEST(h1() == truth());
  falsify_memo();
  BOOST_TEST(h1() == "h1:another");
  BOOST_TEST(summary() != truth());
}

BOOST_AUTO_TEST_CASE(memo_of_a_file_counts_beside_one_that_changed) {
  h1();
  falsify_memo();
  write_text(package / "sub/more.tf", "# MORE\n");
  const std::string told = h1();
  BOOST_TEST(told != truth());
  BOOST_TEST(told != "h1:another");
}

BOOST_AUTO_TEST_CASE(memo_of_a_package_with_links_has_no_hash_of_the_whole) {
  fs::create_symlink("main.tf", package / "link.tf");
  BOOST_TEST(h1() == truth());
  const std::string text = read_text(memo());
  BOOST_TEST(tree_memo::read(text).h1.empty());
  BOOST_TEST(tree_memo::read(text).files.size() == 2U);
}

BOOST_AUTO_TEST_CASE(memo_is_not_asked_where_everything_is_to_be_hashed) {
  h1();
  falsify_memo();
  BOOST_TEST(h1(true) == truth());
  BOOST_TEST(h1() == truth());  // and it was put right
}

BOOST_AUTO_TEST_CASE(memo_does_not_hide_a_change) {
  struct Row {
    const char* name;
    void (*change)(const fs::path& tree);
  };
  const Row rows[] = {
      {"other content", [](const fs::path& tree) { write_text(tree / "main.tf", "# longer than before\n"); }},
      {"as long, and with the old time",
       [](const fs::path& tree) {
         const auto time = fs::last_write_time(tree / "main.tf");
         write_text(tree / "main.tf", "# MAIN\n");
         fs::last_write_time(tree / "main.tf", time);
       }},
      {"another file with the old time in its place",
       [](const fs::path& tree) {
         const auto time = fs::last_write_time(tree / "main.tf");
         write_text(tree / "../other", "# MAIN\n");
         fs::last_write_time(tree / "../other", time);
         fs::rename(tree / "../other", tree / "main.tf");
       }},
      {"two files that changed places",
       [](const fs::path& tree) {
         fs::rename(tree / "main.tf", tree / "../aside");
         fs::rename(tree / "sub/more.tf", tree / "main.tf");
         fs::rename(tree / "../aside", tree / "sub/more.tf");
       }},
      {"a file deleted", [](const fs::path& tree) { fs::remove(tree / "sub/more.tf"); }},
      {"a file added", [](const fs::path& tree) { write_text(tree / "a.tf", ""); }},
      {"a file added below, with the old time of its directory",
       [](const fs::path& tree) {
         const auto time = fs::last_write_time(tree / "sub");
         write_text(tree / "sub/a.tf", "");
         fs::last_write_time(tree / "sub", time);
       }},
      {"a file added in a new directory", [](const fs::path& tree) { write_text(tree / "new/a.tf", ""); }},
      {"a directory that was moved aside for a link to another one",
       [](const fs::path& tree) {
         fs::rename(tree / "sub", tree / "aside");
         fs::create_symlink("aside", tree / "sub");
       }},
      {"a link in place of a file",
       [](const fs::path& tree) {
         fs::remove(tree / "main.tf");
         fs::create_symlink("sub/more.tf", tree / "main.tf");
       }},
      {"what a link leads to",
       [](const fs::path& tree) {
         fs::create_symlink("sub/more.tf", tree / "link");
         write_text(tree / "sub/more.tf", "# MORE\n");
       }},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Installed fresh;
      const std::string before = fresh.h1();
      BOOST_TEST(before == fresh.truth());
      let_the_clock_tick();
      row.change(fresh.package);
      BOOST_TEST(fresh.h1() == fresh.truth());
      BOOST_TEST(fresh.h1() == fresh.truth());
      BOOST_TEST(fresh.summary() == fresh.truth());
      BOOST_TEST(fresh.h1() != before);
    }
  }
}

BOOST_AUTO_TEST_CASE(memo_leaves_out_what_may_still_change_unseen) {
  fs::last_write_time(package / "main.tf", fs::file_time_type::clock::now() + std::chrono::hours(1));
  BOOST_TEST(h1() == truth());
  BOOST_TEST(read_text(memo()).find("main.tf") == std::string::npos);
  BOOST_TEST(read_text(memo()).find("sub/more.tf") != std::string::npos);
  fs::last_write_time(package / "main.tf", fs::file_time_type::clock::now() - std::chrono::hours(1));
  BOOST_TEST(h1() == truth());
  BOOST_TEST(read_text(memo()).find("main.tf") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(memo_that_is_no_memo_is_as_if_absent) {
  h1();
  const std::string good = read_text(memo());
  struct Row {
    const char* name;
    std::string text;
  };
  const Row rows[] = {
      {"empty", ""},
      {"cut off", good.substr(0, good.size() - 40)},
      {"zeros", std::string(good.size(), '\0')},
      {"one byte changed", good.substr(0, 60) + static_cast<char>(good[60] ^ 1) + good.substr(61)},
      {"of another release", "tofu-modlock tree 3\n" + good.substr(20)},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(memo(), row.text);
      BOOST_TEST(h1() == truth());
      BOOST_TEST((read_text(memo()) == good));
    }
  }
}

BOOST_AUTO_TEST_CASE(memo_belongs_to_one_place) {
  h1();
  falsify_memo();
  fs::rename(package, directory / "elsewhere");
  package = directory / "elsewhere";
  BOOST_TEST(h1() == truth());
}

BOOST_AUTO_TEST_CASE(memo_that_cannot_be_written_is_no_error) {
  write_text(directory / "store/v2", "");
  BOOST_TEST(h1() == truth());
  BOOST_TEST(!has_memo());
}

BOOST_AUTO_TEST_CASE(memo_is_not_for_packages_that_are_refused) {
  fs::create_symlink("/etc/passwd", package / "link");
  const auto summary = summarise_installed(store, package, {}, Context{});
  BOOST_TEST_REQUIRE(!summary.has_value());
  BOOST_TEST((summary.error().code == Code::archive_unsafe));
}

BOOST_AUTO_TEST_SUITE_END()
