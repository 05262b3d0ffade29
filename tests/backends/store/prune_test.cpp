#include "backends/store/prune.h"

#include <boost/test/unit_test.hpp>
#include <chrono>

#include "backends/base/files.h"
#include "backends/store/store.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::read_text;
using modlock::test::TemporaryDirectory;
using modlock::test::write_text;
namespace fs = std::filesystem;

namespace {

using Clock = fs::file_time_type::clock;
using std::chrono::hours;

const Source kPrunedSource{
    .kind = SourceKind::git, .getter = "git", .scheme = "https", .host = "example.com", .path = "/example/network.git"};

struct Cellar {
  TemporaryDirectory directory;
  Store store = Store::open(directory / "store").value();
  fs::file_time_type now = Clock::now();

  // A package of about `size` bytes that was used so long ago.
  Package add(const std::string& id, std::size_t size, hours unused) {
    const fs::path tree = directory / "tree";
    write_text(tree / "main.tf", id + std::string(size, ' '));
    const Package package =
        store.admit(kPrunedSource, {.id = id, .directory = tree, .warnings = {}}, Context{}).value();
    mark(package.directory.parent_path() / "used", unused);
    return package;
  }
  void mark(const fs::path& path, hours ago) const {
    if (!fs::exists(path)) {
      write_text(path, "");
    }
    fs::last_write_time(path, now - ago);
  }
  PruneReport prune(const PruneLimits& limits) const { return modlock::prune(store, limits, Context{}, now).value(); }
  bool has(const Package& package) const { return fs::exists(package.directory); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pruning, Cellar)

BOOST_AUTO_TEST_CASE(without_limits_every_package_stays) {
  const Package old = add("a", 10, hours(10000));
  BOOST_TEST(prune({}).removed.packages == 0U);
  BOOST_TEST(has(old));
}

BOOST_AUTO_TEST_CASE(an_empty_store_is_fine) {
  BOOST_TEST(prune({.max_bytes = 0, .max_age = hours(0)}).removed.packages == 0U);
  BOOST_TEST(!fs::exists(directory / "store"));
}

BOOST_AUTO_TEST_CASE(what_was_not_used_for_long_goes) {
  const Package old = add("a", 10, hours(721));
  const Package young = add("b", 10, hours(719));
  const PruneReport report = prune({.max_age = hours(720)});
  BOOST_TEST(report.removed.packages == 1U);
  BOOST_TEST(report.removed.package_bytes == 11U);
  BOOST_TEST(!has(old));
  BOOST_TEST(has(young));
  BOOST_TEST(!store.find(kPrunedSource, "a").has_value());
  BOOST_TEST(store.find(kPrunedSource, "b").has_value());
}

BOOST_AUTO_TEST_CASE(proven_packages_age_too) {
  const auto proven = [&](const std::string& origin, hours unused) {
    write_text(directory / "tree/main.tf", "content");
    const Package package = store.admit_proven(directory / "tree", origin, "h1:AAAA=", "modes").value();
    mark(package.directory.parent_path() / "used", unused);
    return package;
  };
  const Package old = proven("git:1", hours(721));
  const Package young = proven("git:2", hours(719));
  BOOST_TEST(measure(store)->packages == 2U);
  const PruneReport report = prune({.max_age = hours(720)});
  BOOST_TEST(report.removed.packages == 1U);
  BOOST_TEST(report.removed.package_bytes == 7U);
  BOOST_TEST(!has(old));
  BOOST_TEST(has(young));
}

BOOST_AUTO_TEST_CASE(the_longest_unused_goes_first_until_it_fits) {
  const Package middle = add("a", 100, hours(20));
  const Package oldest = add("b", 100, hours(30));
  const Package newest = add("c", 100, hours(10));
  BOOST_TEST(prune({.max_bytes = 210}).removed.packages == 1U);
  BOOST_TEST(!has(oldest));
  BOOST_TEST(has(middle));
  BOOST_TEST(prune({.max_bytes = 150}).removed.packages == 1U);
  BOOST_TEST(!has(middle));
  BOOST_TEST(has(newest));
}

BOOST_AUTO_TEST_CASE(what_was_used_within_the_hour_stays_whatever_the_limits) {
  const Package package = add("a", 10, hours(0));
  BOOST_TEST(prune({.max_bytes = 0, .max_age = hours(0)}).removed.packages == 0U);
  BOOST_TEST(has(package));
}

BOOST_AUTO_TEST_CASE(looking_a_package_up_is_a_use) {
  const Package package = add("a", 10, hours(1000));
  BOOST_TEST(store.find(kPrunedSource, "a").has_value());
  now = Clock::now();
  BOOST_TEST(prune({.max_age = hours(720)}).removed.packages == 0U);
  BOOST_TEST(has(package));
}

BOOST_AUTO_TEST_CASE(repositories_age_too) {
  const fs::path repository = store.git_directory() / "x";
  write_text(repository / "HEAD", "12345");
  mark(repository / "HEAD", hours(100));
  fs::last_write_time(repository, now - hours(100));
  const PruneReport report = prune({.max_age = hours(99)});
  BOOST_TEST(report.removed.repositories == 1U);
  BOOST_TEST(report.removed.repository_bytes == 5U);
  BOOST_TEST(!fs::exists(repository));
}

// What a person or an older version left there, too.
BOOST_AUTO_TEST_CASE(other_entries_next_to_packages_and_repositories_age_too) {
  struct Row {
    const char* name;
    const char* entry;
    const char* written;  // the entry, or a file in it
  };
  for (const Row& row :
       {Row{"a file", "x", "x"}, Row{"a hidden file", ".x", ".x"}, Row{"a hidden directory", ".x", ".x/main.tf"}}) {
    for (const fs::path& place : {store.package_directory(), store.proven_directory(), store.git_directory()}) {
      BOOST_TEST_CONTEXT(row.name << " in " << place.filename().string()) {
        write_text(place / row.written, "x");
        mark(place / row.written, hours(100));
        mark(place / row.entry, hours(100));
        BOOST_TEST(prune({.max_age = hours(101)}).removed.packages == 0U);
        BOOST_TEST(fs::exists(place / row.entry));
        const PruneReport report = prune({.max_age = hours(99)});
        BOOST_TEST(report.removed.packages + report.removed.repositories == 1U);
        BOOST_TEST(!fs::exists(place / row.entry));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(work_that_nobody_holds_goes) {
  const fs::path abandoned = store.temporary_directory() / "killed";
  const fs::path running = store.make_temporary().value();
  write_text(abandoned / "tree/main.tf", "x");
  fs::last_write_time(running.parent_path(), now - hours(25));
  const PruneReport report = prune({});
  BOOST_TEST(report.leftovers == 1U);
  BOOST_TEST(report.removed.unfinished_bytes == 1U);
  BOOST_TEST(!fs::exists(abandoned));
  BOOST_TEST(fs::exists(running));
}

BOOST_AUTO_TEST_CASE(answers_without_an_id_go_after_a_day) {
  store.note_answer("old", add("a", 10, hours(0)));
  fs::last_write_time(fs::directory_iterator(store.answer_directory())->path(), now - hours(25));
  store.note_answer("new", add("b", 10, hours(0)));
  BOOST_TEST(prune({}).leftovers == 1U);
  BOOST_TEST(std::distance(fs::directory_iterator(store.answer_directory()), {}) == 1);
}

BOOST_AUTO_TEST_CASE(writes_left_unfinished_for_a_day_go) {
  const Package package = add("a", 10, hours(0));
  const fs::path record = fs::directory_iterator(fs::directory_iterator(store.identity_directory())->path())->path();
  BOOST_REQUIRE(store.make(store.response_directory()).has_value());
  for (const fs::path& place : {record.parent_path(), store.response_directory()}) {
    BOOST_TEST_CONTEXT(place.filename().string()) {
      const fs::path abandoned = place / ".a.json.0123456789abcdef";
      write_text(abandoned, read_text(record));
      BOOST_TEST(prune({}).leftovers == 0U);
      fs::last_write_time(abandoned, now - hours(25));
      BOOST_TEST(prune({}).leftovers == 1U);
      BOOST_TEST(!fs::exists(abandoned));
    }
  }
  BOOST_TEST(store.find(kPrunedSource, "a").has_value());
}

BOOST_AUTO_TEST_CASE(removes_stale_records) {
  const Package package = add("a", 10, hours(0));
  const Package other = add("b", 10, hours(0));
  store.drop(package);
  BOOST_TEST(prune({}).leftovers == 1U);
  BOOST_TEST(store.find(kPrunedSource, "b").has_value());
}

BOOST_AUTO_TEST_CASE(unreadable_records_go) {
  add("a", 10, hours(0));
  for (const char* text : {"", "{", "[]", "{\"h1\": 1}"}) {
    BOOST_TEST_CONTEXT(text) {
      write_text(store.identity_directory() / "x/y.json", text);
      BOOST_TEST(prune({}).leftovers == 1U);
      BOOST_TEST(!fs::exists(store.identity_directory() / "x"));
    }
  }
}

BOOST_AUTO_TEST_CASE(answers_of_registries_age_too) {
  write_text(store.response_directory() / "old.json", "{}");
  write_text(store.response_directory() / "new.json", "{}");
  mark(store.response_directory() / "old.json", hours(100));
  BOOST_TEST(prune({}).removed.records == 0U);
  const PruneReport report = prune({.max_age = hours(99)});
  BOOST_TEST(report.removed.records == 1U);
  BOOST_TEST(report.leftovers == 0U);
  BOOST_TEST(fs::exists(store.response_directory() / "new.json"));
}

BOOST_AUTO_TEST_CASE(records_of_every_kind_are_counted_and_go) {
  std::size_t kinds = 0;
  for (const char* kind : {"v2/responses", "v2/answers", "v2/trees", "v2/hashes", "v2/downloads", "clients"}) {
    BOOST_TEST_CONTEXT(kind) {
      const fs::path record = store.root() / kind / "old";
      for (const PruneLimits& limits : {PruneLimits{.max_bytes = 0}, PruneLimits{.max_age = hours(2)}}) {
        write_text(record, "12345");
        write_text(record.parent_path() / ".new.0123456789abcdef", "");  // being written
        mark(record, hours(3));
        BOOST_TEST(measure(store).value().records == 1U);
        BOOST_TEST(measure(store).value().record_bytes == 5U);
        const PruneReport report = prune(limits);
        BOOST_TEST(report.removed.records == 1U);
        BOOST_TEST(report.removed.record_bytes == 5U);
        BOOST_TEST(!fs::exists(record));
        BOOST_TEST(fs::remove(record.parent_path() / ".new.0123456789abcdef"));
      }
    }
    ++kinds;
  }
  BOOST_TEST(kinds == store.record_directories().size());
}

BOOST_AUTO_TEST_CASE(a_record_counts_among_the_rest) {
  const Package package = add("a", 100, hours(10));
  const fs::path record = store.hash_directory() / "old";
  write_text(record, std::string(100, ' '));
  mark(record, hours(20));
  const PruneReport report = prune({.max_bytes = 150});
  BOOST_TEST(report.removed.records == 1U);
  BOOST_TEST(report.removed.packages == 0U);
  BOOST_TEST(has(package));
}

BOOST_AUTO_TEST_CASE(an_older_layout_goes) {
  write_text(store.root() / "v1/packages/a/tree/main.tf", "");
  BOOST_TEST(measure(store).value().packages == 0U);
  const PruneReport report = prune({});
  BOOST_TEST(report.leftovers == 1U);
  BOOST_TEST(report.removed.packages == 0U);
  BOOST_TEST(!fs::exists(store.root() / "v1"));
  BOOST_TEST(prune({}).leftovers == 0U);
}

BOOST_AUTO_TEST_CASE(locks_and_what_was_seen_stay) {
  for (const char* path : {"v2/locks/a", "v2/seen/a", "v2/installed/a"}) {
    BOOST_TEST_CONTEXT(path) {
      write_text(store.root() / path, "x");
      mark(store.root() / path, hours(10000));
      BOOST_TEST(prune({.max_bytes = 0, .max_age = hours(1)}).removed.records == 0U);
      BOOST_TEST(fs::exists(store.root() / path));
    }
  }
}

BOOST_AUTO_TEST_CASE(unfinished_files_next_to_what_was_seen_go) {
  for (const char* directory : {"v2/seen", "v2/installed"}) {
    const fs::path old = store.root() / directory / ".a.0123456789abcdef";
    const fs::path young = store.root() / directory / ".b.0123456789abcdef";
    for (const auto& [path, age] : {std::pair(old, hours(25)), std::pair(young, hours(1))}) {
      write_text(path, "x");
      mark(path, age);
    }
    BOOST_TEST(prune({}).leftovers == 1U, directory);
    BOOST_TEST(!fs::exists(old));
    BOOST_TEST(fs::exists(young));
  }
}

BOOST_AUTO_TEST_CASE(a_cancelled_run_stops) {
  const Package package = add("a", 10, hours(1000));
  std::stop_source stop;
  stop.request_stop();
  const auto report = modlock::prune(store, {.max_bytes = 0}, Context{.stop = stop.get_token()}, now);
  BOOST_TEST_REQUIRE(!report.has_value());
  BOOST_TEST(to_string(report.error().code) == "REQUEST_CANCELLED");
  BOOST_TEST(has(package));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(sizes)

BOOST_AUTO_TEST_CASE(measures_packages_and_repositories) {
  const TemporaryDirectory directory;
  const Store store = *Store::open(directory / "store");
  const messages::CacheSizes nothing = measure(store).value();
  BOOST_TEST(nothing.packages == 0U);
  BOOST_TEST(nothing.repository_bytes == 0U);

  write_text(directory / "store/v2/packages/aa/tree/main.tf", std::string(10, 'x'));
  write_text(directory / "store/v2/packages/aa/tree/sub/b", std::string(5, 'x'));
  write_text(directory / "store/v2/packages/bb/tree/main.tf", std::string(1, 'x'));
  write_text(directory / "store/v2/git/cc/objects/pack", std::string(100, 'x'));
  write_text(directory / "store/v2/tmp/dd/not-counted", std::string(1000, 'x'));
  fs::create_symlink("main.tf", directory / "store/v2/packages/aa/tree/link");
  fs::create_directory_symlink("..", directory / "store/v2/packages/aa/tree/up");
  const messages::CacheSizes sizes = measure(store).value();
  BOOST_TEST(sizes.packages == 2U);
  BOOST_TEST(sizes.package_bytes == 16U);
  BOOST_TEST(sizes.repositories == 1U);
  BOOST_TEST(sizes.repository_bytes == 100U);
}

BOOST_AUTO_TEST_SUITE_END()
