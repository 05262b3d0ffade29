#include "backends/store/store.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "tests/support/few_descriptors.h"
#include "tests/support/needs.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::FewDescriptors;
using modlock::test::kMount;
using modlock::test::mode_of;
using modlock::test::needs;
using modlock::test::SmallDisk;
using modlock::test::TemporaryDirectory;
using modlock::test::write_text;
namespace fs = std::filesystem;

namespace {

const std::string kId = "8f2c0d0b6c1f3b6f1a6f6a0b9e5d4c3b2a190807";

Source source_at(const std::string& host) {
  return Source{
      .kind = SourceKind::git, .getter = "git", .scheme = "https", .host = host, .path = "/example/network.git"};
}

const Source kSource = source_at("example.com");

Store open_store(const fs::path& root) {
  auto store = Store::open(root);
  BOOST_REQUIRE_MESSAGE(store.has_value(), (store ? "" : store.error().message));
  return *store;
}

FetchedTree tree_at(const fs::path& directory, const std::string& content = "content", const std::string& id = kId) {
  write_text(directory / "main.tf", content);
  write_text(directory / "sub/run.sh", "#!/bin/sh\n");
  ::chmod((directory / "sub/run.sh").c_str(), 0755);
  return {.id = id, .directory = directory, .warnings = {}};
}

Package admitted(const Store& store, FetchedTree tree) {
  auto package = store.admit(kSource, std::move(tree), Context{});
  BOOST_REQUIRE_MESSAGE(package.has_value(), (package ? "" : package.error().message));
  return *package;
}

fs::path record_in(const fs::path& root) {
  for (const auto& entry : fs::recursive_directory_iterator(root / "v2/identities")) {
    if (entry.is_regular_file()) {
      return entry.path();
    }
  }
  return {};
}

// Sets a variable for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = ::getenv(name); before != nullptr) {
      before_ = before;
    }
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }

  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(store)

BOOST_AUTO_TEST_CASE(opening_and_looking_writes_nothing) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "a/store");
  BOOST_TEST(!store.find(kSource, kId).has_value());
  BOOST_TEST(!store.find_by_h1("h1:x").has_value());
  BOOST_TEST(store.root() == directory / "a/store");
  BOOST_TEST(store.git_directory() == directory / "a/store/v2/git");
  BOOST_TEST(!fs::exists(directory / "a"));
}

BOOST_AUTO_TEST_CASE(a_package_goes_in_and_is_found) {
  const TemporaryDirectory directory;
  const fs::path root = directory / "store";
  const Store store = open_store(root);
  FetchedTree tree = tree_at(directory / "fetched");
  tree.warnings.push_back({Severity::warning, {.code = Code::lfs_pointer, .message = "a pointer"}});
  const Package package = admitted(store, tree);

  BOOST_TEST(package.id == kId);
  BOOST_TEST(package.h1.substr(0, 3) == "h1:");
  BOOST_TEST(package.modes.size() == 64U);
  BOOST_TEST(package.directory == root / "v2/packages" / (sha256_hex(package.h1) + "-" + package.modes) / "tree");
  BOOST_TEST(package.warnings.size() == 1U);
  BOOST_TEST(read_file(package.directory / "main.tf").value() == "content");
  BOOST_TEST(mode_of(package.directory / "sub/run.sh") == 0755U);
  BOOST_TEST(mode_of(root) == 0700U);
  BOOST_TEST(!fs::exists(directory / "fetched"));
  BOOST_TEST(measure(store)->unfinished_bytes == 0U);
  BOOST_TEST(record_in(root) == root / "v2/identities" / sha256_hex(kSource.package_identity()) / (kId + ".json"));
  BOOST_TEST(read_file(record_in(root)).value() == "{\"h1\":\"" + package.h1 + "\",\"id\":\"" + kId +
                                                       "\",\"modes\":\"" + package.modes + "\",\"source\":\"" +
                                                       kSource.package_identity() + "\"}\n");

  // Another process, later.
  const auto found = open_store(root).find(kSource, kId);
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(found->id == kId);
  BOOST_TEST(found->h1 == package.h1);
  BOOST_TEST(found->directory == package.directory);
  const auto by_content = store.find_by_h1(package.h1);
  BOOST_REQUIRE(by_content.has_value());
  BOOST_TEST(by_content->id.empty());
  BOOST_TEST(by_content->directory == package.directory);
}

BOOST_AUTO_TEST_CASE(a_content_with_other_modes_is_another_package) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const Package executable = admitted(store, tree_at(directory / "a"));
  FetchedTree other = tree_at(directory / "b", "content", "other");
  ::chmod((directory / "b/sub/run.sh").c_str(), 0644);
  const Package plain = admitted(store, other);
  BOOST_TEST(plain.h1 == executable.h1);
  BOOST_TEST(mode_of(store.find(kSource, kId)->directory / "sub/run.sh") == 0755U);
  BOOST_TEST(mode_of(store.find(kSource, "other")->directory / "sub/run.sh") == 0644U);
  store.drop(executable);
  BOOST_TEST(!store.find(kSource, kId).has_value());
  BOOST_TEST(store.find_by_h1(plain.h1)->modes == plain.modes);
}

// The names of the packages are kept while their directory does not change.
BOOST_AUTO_TEST_CASE(content_of_another_process_is_found_after_a_look_up) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const Store other = open_store(directory / "store");
  const auto age = [&] {
    fs::last_write_time(store.package_directory(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  };
  const Package first = admitted(other, tree_at(directory / "a"));
  age();
  BOOST_TEST(store.find_by_h1(first.h1).has_value());
  const Package second = admitted(other, tree_at(directory / "b", "other content", "second"));
  BOOST_TEST(store.find_by_h1(second.h1).has_value());
  age();
  BOOST_TEST(store.find_by_h1(first.h1).has_value());
  other.drop(first);
  BOOST_TEST(!store.find_by_h1(first.h1).has_value());
  BOOST_TEST(store.find_by_h1(second.h1).has_value());
}

BOOST_AUTO_TEST_CASE(the_address_that_a_registry_returned_is_recorded) {
  const TemporaryDirectory directory;
  FetchedTree tree = tree_at(directory / "fetched");
  tree.package = "registry::registry.example.com/a/b/c@1.0.0";
  BOOST_TEST(admitted(open_store(directory / "store"), tree).package == tree.package);
  BOOST_TEST(open_store(directory / "store").find(kSource, kId)->package == tree.package);
}

BOOST_AUTO_TEST_CASE(what_does_not_belong_together_is_not_found) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  (void)admitted(store, tree_at(directory / "fetched"));
  BOOST_TEST(!store.find(source_at("example.org"), kId).has_value());
  for (const char* id : {"", "other", "..", "../x", "a/b", ".hidden"}) {
    BOOST_TEST_CONTEXT(id) {
      BOOST_TEST(!store.find(kSource, id).has_value());
      BOOST_TEST(!store.recorded_h1(kSource, id).has_value());
    }
  }
}

BOOST_AUTO_TEST_CASE(unreadable_records_are_as_if_absent) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const Package package = admitted(store, tree_at(directory / "fetched"));
  const fs::path record = record_in(store.root());
  const std::string good = read_file(record).value();
  const std::string source = kSource.package_identity();
  const std::string rows[] = {"",
                              "{",
                              "[]",
                              "null",
                              good.substr(0, good.size() / 2),
                              "{\"id\":\"" + kId + "\",\"source\":\"" + source + "\"}",
                              "{\"h1\":7,\"id\":\"" + kId + "\",\"source\":\"" + source + "\"}",
                              "{\"h1\":\"h1:none\",\"id\":\"" + kId + "\",\"source\":\"" + source + "\"}",
                              "{\"h1\":\"" + package.h1 + "\",\"id\":\"other\",\"source\":\"" + source + "\"}",
                              "{\"h1\":\"" + package.h1 + "\",\"id\":\"" + kId + "\",\"source\":\"other\"}"};
  for (const std::string& text : rows) {
    BOOST_TEST_CONTEXT(text) {
      write_text(record, text);
      BOOST_TEST(!store.find(kSource, kId).has_value());
    }
  }
  write_text(record, good);
  BOOST_TEST(store.find(kSource, kId).has_value());
}

BOOST_AUTO_TEST_CASE(one_content_is_kept_once) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const Package first = admitted(store, tree_at(directory / "one", "content", "1111"));
  const Package second = admitted(store, tree_at(directory / "two", "content", "2222"));
  const Package other = admitted(store, tree_at(directory / "three", "other", "3333"));
  BOOST_TEST(first.directory == second.directory);
  BOOST_TEST(first.directory != other.directory);
  BOOST_TEST(!fs::exists(directory / "two"));
  BOOST_TEST(store.find(kSource, "1111").has_value());
  BOOST_TEST(store.find(kSource, "2222").has_value());
}

BOOST_AUTO_TEST_CASE(unsafe_packages_stay_out) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const FetchedTree overriding = tree_at(directory / "overriding");
  write_text(directory / "overriding/sub/modlock_override.tf", "");
  const auto refused = store.admit(kSource, overriding, Context{});
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST(to_string(refused.error().code) == "ARCHIVE_UNSAFE");
  BOOST_TEST(refused.error().message ==
             "the package contains \"sub/modlock_override.tf\", a name that only tofu-modlock may write");
  BOOST_TEST(refused.error().hint == "ask the author of the package to remove the file");
  const auto proven = store.admit_proven(directory / "overriding", "git:1", "h1:AAAA=", "modes");
  BOOST_REQUIRE(!proven.has_value());
  BOOST_TEST(proven.error().message == refused.error().message);

  const FetchedTree leaving = tree_at(directory / "leaving");
  fs::create_symlink("../../etc", directory / "leaving/link");
  BOOST_TEST(to_string(store.admit(kSource, leaving, Context{}).error().code) == "ARCHIVE_UNSAFE");
  BOOST_TEST(fs::exists(directory / "leaving"));
  BOOST_TEST(!fs::exists(directory / "store"));
}

BOOST_AUTO_TEST_CASE(a_dropped_package_is_gone_and_may_come_back) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const Package package = admitted(store, tree_at(directory / "one"));
  store.drop(package);
  BOOST_TEST(!store.find(kSource, kId).has_value());
  BOOST_TEST(!store.find_by_h1(package.h1).has_value());
  BOOST_TEST((store.recorded_h1(kSource, kId) == package.h1));  // that is still true
  BOOST_TEST(!fs::exists(package.directory));
  BOOST_TEST(measure(store)->unfinished_bytes == 0U);
  store.drop(package);
  BOOST_TEST(admitted(store, tree_at(directory / "two")).h1 == package.h1);
  BOOST_TEST(store.find(kSource, kId).has_value());
}

BOOST_AUTO_TEST_CASE(a_package_that_cannot_be_read_now_is_kept) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const Package package = admitted(store, tree_at(directory / "one"));
  const auto loaded = [&] {
    const FewDescriptors none(0);
    return load_intact_package(store, package, Context{});
  }();
  BOOST_TEST_REQUIRE(!loaded.has_value());
  BOOST_TEST(loaded.error().message == "cannot read the directory \"" + package.directory.string() +
                                           "\": the limit of open files of this process is reached");
  BOOST_TEST(fs::exists(package.directory));
  write_text(package.directory / "main.tf", "changed");
  BOOST_TEST((load_intact_package(store, package, Context{}).value() == std::nullopt));
  BOOST_TEST(!fs::exists(package.directory));
  BOOST_TEST((load_intact_package(store, package, Context{}).value() == std::nullopt));  // removed by another process
}

BOOST_AUTO_TEST_CASE(a_package_found_intact_in_this_run_is_not_checked_again) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  Package package = admitted(store, tree_at(directory / "one"));
  IntactPackages intact;
  const Context context{.intact = &intact};
  BOOST_TEST(load_intact_package(store, package, context).value().has_value());
  write_text(package.directory / "main.tf", "changed");
  BOOST_TEST(load_intact_package(store, package, context).value().has_value());
  package.h1 = "h1:other";
  BOOST_TEST((load_intact_package(store, package, context).value() == std::nullopt));
}

// A limit of one lets the names be listed, and no tree be read.
BOOST_AUTO_TEST_CASE(a_proven_package_that_cannot_be_read_now_is_kept) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const Package one = admitted(store, tree_at(directory / "one"));
  const FetchedTree tree = tree_at(directory / "two");
  const Package package = store.admit_proven(tree.directory, "git:1", one.h1, one.modes).value();
  const auto found = [&] { return store.find_proven("git:1", one.h1, Context{}); };
  {
    const FewDescriptors one_more(1);
    BOOST_TEST((found() == std::nullopt));
  }
  BOOST_TEST_REQUIRE(found().has_value());
  BOOST_TEST(found()->directory == package.directory);
  write_text(package.directory / "main.tf", "changed");
  BOOST_TEST((found() == std::nullopt));
  BOOST_TEST(!fs::exists(package.directory));
  BOOST_TEST(fs::exists(one.directory));
}

// Content that is known as that of a commit belongs to no source.
BOOST_AUTO_TEST_CASE(claims_are_for_one_source) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const Package one = admitted(store, tree_at(directory / "one"));
  const Package package = store.admit_proven(tree_at(directory / "two").directory, "git:1", one.h1, one.modes).value();
  const std::string source = "git::https://example.com/a.git";
  BOOST_TEST(!store.is_claimed(package, source, ""));
  store.note_claim(package, source, "modules.tar");
  struct Row {
    const char* name;
    const char* source;
    const char* by;
    bool is_claimed;
  };
  for (const Row& row : {Row{"the same", "git::https://example.com/a.git", "modules.tar", true},
                         Row{"anyone", "git::https://example.com/a.git", "", true},
                         Row{"another writer", "git::https://example.com/a.git", "oci://example.com/a", false},
                         Row{"another source", "git::https://example.com/b.git", "modules.tar", false},
                         Row{"another source, anyone", "git::https://example.com/b.git", "", false},
                         Row{"another scheme", "git::ssh://example.com/a.git", "", false}}) {
    BOOST_TEST(store.is_claimed(package, row.source, row.by) == row.is_claimed, row.name);
  }
  BOOST_TEST(!store.find(kSource, "1").has_value());
  store.drop(package);
  BOOST_TEST(!store.is_claimed(package, source, ""));
}

// What an external backend says of a source is no proof for a run without it.
BOOST_AUTO_TEST_CASE(records_of_claims_are_kept_apart) {
  const TemporaryDirectory directory;
  const Store plain = open_store(directory / "store");
  Store claiming = plain;
  claiming.set_claims("x");
  Store other = plain;
  other.set_claims("y");
  const Source elsewhere = source_at("example.org");
  const Source registry{.kind = SourceKind::registry, .host = "registry.example", .path = "a/b/c"};
  struct Row {
    const char* name;
    const Store& by;
    const Source& source;
    bool in_plain;
    bool in_claiming;
    bool in_other;
  };
  const Row rows[] = {
      {"a claim", claiming, kSource, false, true, false},
      {"a claim of another backend", other, kSource, false, false, true},
      {"proven without a backend", plain, kSource, true, true, true},
      {"another host of a run with a backend", claiming, elsewhere, false, true, false},
      {"a registry, which may point to the host", claiming, registry, false, true, false},
  };
  int number = 0;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string id = kId.substr(1) + std::to_string(number++);
      FetchedTree tree = tree_at(directory / id, id, id);
      tree.ref = "1.0.0";
      const auto package = row.by.admit(row.source, std::move(tree), Context{});
      BOOST_REQUIRE(package.has_value());
      row.by.note_answer(id, *package);
      for (const auto& [store, is_found] :
           {std::pair(&plain, row.in_plain), {&claiming, row.in_claiming}, {&other, row.in_other}}) {
        BOOST_TEST(store->find(row.source, id, "1.0.0").has_value() == is_found);
        BOOST_TEST(store->recorded_h1(row.source, id, "1.0.0").has_value() == is_found);
        // An answer is for runs with the same backends, also if what it names is proven.
        BOOST_TEST(store->find_answer(row.source, id, fs::file_time_type::min()).has_value() == (store == &row.by));
      }
    }
  }
  BOOST_TEST(plain.installed_directories().size() == 1U);
  BOOST_TEST(claiming.installed_directories().at(1) == plain.installed_directories().at(0));
  BOOST_TEST(claiming.installed_directories().at(0) != other.installed_directories().at(0));
}

BOOST_AUTO_TEST_CASE(only_packages_of_the_store_are_dropped) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  Package package = admitted(store, tree_at(directory / "one"));
  package.directory = tree_at(directory / "two/tree").directory;
  store.drop(package);
  BOOST_TEST(fs::exists(package.directory));
}

BOOST_AUTO_TEST_CASE(the_rest_of_an_interrupted_removal_is_no_package) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const Package package = admitted(store, tree_at(directory / "one"));
  fs::rename(package.directory, package.directory.parent_path() / "half");
  BOOST_TEST(!store.find(kSource, kId).has_value());
  (void)admitted(store, tree_at(directory / "two"));
  BOOST_TEST(store.find(kSource, kId).has_value());
  BOOST_TEST(!fs::exists(package.directory.parent_path() / "half"));
}

BOOST_AUTO_TEST_CASE(processes_and_threads_admit_one_package_at_once) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  constexpr int kProcesses = 4;
  constexpr int kRounds = 10;
  for (int process = 0; process < kProcesses; ++process) {
    for (int round = 0; round < kRounds; ++round) {
      (void)tree_at(directory.path() / std::to_string(process) / std::to_string(round), std::to_string(round));
    }
  }
  const auto admit_all = [&](int process) {
    int failures = 0;
    for (int round = 0; round < kRounds; ++round) {
      FetchedTree tree{.id = std::to_string(round),
                       .directory = directory.path() / std::to_string(process) / std::to_string(round),
                       .warnings = {}};
      const auto package = store.admit(kSource, std::move(tree), Context{});
      failures += package && store.find(kSource, std::to_string(round)) ? 0 : 1;
    }
    return failures;
  };
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses - 2; ++process) {
    children.push_back(::fork());
    BOOST_REQUIRE(children.back() >= 0);
    if (children.back() == 0) {
      ::_exit(admit_all(process));
    }
  }
  int failures = 0;
  {
    std::jthread other([&] { failures = admit_all(kProcesses - 1); });
    BOOST_TEST(admit_all(kProcesses - 2) == 0);
  }
  BOOST_TEST(failures == 0);
  for (const pid_t child : children) {
    int status = -1;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
    BOOST_TEST(status == 0);
  }
  BOOST_TEST(measure(store).value().packages == static_cast<std::uint64_t>(kRounds));
  BOOST_TEST(measure(store)->unfinished_bytes == 0U);
}

BOOST_AUTO_TEST_CASE(answers_without_an_id_count_for_who_asked_before_they_came) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const auto began = fs::file_time_type::clock::now();
  write_text(directory / "tree/main.tf", "# vpc\n");
  const auto package =
      store.admit(kSource, {.id = "c1", .directory = directory / "tree", .warnings = {}, .ref = "main"}, Context{});
  BOOST_TEST_REQUIRE(package.has_value());
  BOOST_TEST(!store.find_answer(kSource, "main", began).has_value());
  store.note_answer("main", *package);
  const auto found = store.find_answer(kSource, "main", began);
  BOOST_TEST_REQUIRE(found.has_value());
  BOOST_TEST(found->id == "c1");
  BOOST_TEST(found->ref == "main");
  BOOST_TEST(found->h1 == package->h1);
  BOOST_TEST(!store.find_answer(kSource, "dev", began).has_value());
  const fs::path noted = fs::directory_iterator(store.answer_directory())->path();
  fs::last_write_time(noted, began - std::chrono::seconds(1));
  BOOST_TEST(!store.find_answer(kSource, "main", began).has_value(), "it came before");
  fs::last_write_time(noted, began + std::chrono::hours(1));
  BOOST_TEST(!store.find_answer(kSource, "main", began).has_value(), "the clock was set back");
  store.note_answer("main", *package);
  store.drop(*package);
  BOOST_TEST(!store.find_answer(kSource, "main", began).has_value(), "the package is gone");
}

BOOST_AUTO_TEST_CASE(temporary_directories_are_new) {
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const auto first = store.make_temporary();
  const auto second = store.make_temporary();
  BOOST_REQUIRE((first.has_value() && second.has_value()));
  BOOST_TEST(*first != *second);
  BOOST_TEST(first->parent_path() == second->parent_path());
  BOOST_TEST(first->parent_path().parent_path() == store.root() / "v2/tmp");
  BOOST_TEST(is_empty(*first));
}

BOOST_AUTO_TEST_CASE(unfinished_work_of_the_dead_goes_when_a_store_is_opened) {
  const TemporaryDirectory directory;
  const fs::path work = directory / "store/v2/tmp";
  const pid_t killed = ::fork();
  BOOST_REQUIRE(killed >= 0);
  if (killed == 0) {
    const Store store = open_store(directory / "store");
    write_text(*store.make_temporary() / "tree/main.tf", "x");
    ::_exit(0);  // nothing is tidied up
  }
  BOOST_REQUIRE(::waitpid(killed, nullptr, 0) == killed);
  BOOST_TEST(std::distance(fs::directory_iterator(work), {}) == 1);
  {
    const Store store = open_store(directory / "store");
    BOOST_TEST(fs::is_empty(work));
    const fs::path mine = store.make_temporary().value();
    write_text(mine / "main.tf", "12345");
    fs::last_write_time(mine.parent_path(), fs::file_time_type::clock::now() - std::chrono::hours(1000));
    const Store other = open_store(directory / "store");
    BOOST_TEST(fs::exists(mine / "main.tf"));
    BOOST_TEST(measure(other)->unfinished_bytes == 5U);
    fs::remove_all(mine.parent_path());
    BOOST_TEST(fs::exists(store.make_temporary().value()));
    fs::remove_all(work);
    fs::remove_all(store.make_temporary().value());
  }
  BOOST_TEST(fs::is_empty(work));
}

BOOST_AUTO_TEST_CASE(roots_that_cannot_be_opened) {
  const TemporaryDirectory directory;
  write_text(directory / "file", "");
  write_text(directory / "newer/layout", "12\n");
  fs::create_directories(directory / "open");
  fs::permissions(directory / "open", fs::perms::all);
  struct Row {
    const char* name;
    fs::path root;
    const char* code;
    std::string message;
    std::string hint;
  };
  const Row rows[] = {
      {"a file", directory / "file", "IO_ERROR",
       "cannot use the cache \"" + (directory / "file").string() + "\": Not a directory", ""},
      {"of everybody", directory / "open", "IO_ERROR",
       "every user may write to the cache \"" + (directory / "open").string() + "\"",
       "chmod o-w " + (directory / "open").string()},
      {"of a later release", directory / "newer", "LOCK_NEWER",
       "the cache \"" + (directory / "newer").string() + "\" has layout 12; this release reads layout 2",
       "use the tofu-modlock release that wrote it, or name another directory with --cache-dir"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto store = Store::open(row.root);
      BOOST_REQUIRE(!store.has_value());
      BOOST_TEST(to_string(store.error().code) == row.code);
      BOOST_TEST(store.error().message == row.message);
      BOOST_TEST(store.error().hint == row.hint);
    }
  }
}

// Commands that need no cache work without one.
BOOST_AUTO_TEST_CASE(a_store_that_cannot_be_written_fails_at_the_first_write) {
  const TemporaryDirectory directory;
  write_text(directory / "file", "");
  fs::create_symlink("loop", directory / "loop");
  struct Row {
    const char* name;
    fs::path root;
    std::string message;
  };
  const std::string cannot = "cannot make the directory \"";
  const Row rows[] = {
      {"none", "", "no directory for the cache: the home directory is not known"},
      {"below a file", directory / "file/cache", cannot + (directory / "file").string() + "\": File exists"},
      {"below a link to itself", directory / "loop/cache", cannot + (directory / "loop").string() + "\": File exists"},
      {"below a directory that cannot be made", "/proc/none/cache", cannot + "/proc/none\": No such file or directory"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto store = Store::open(row.root);
      BOOST_REQUIRE(store.has_value());
      BOOST_TEST(!store->find_by_h1("h1:x").has_value());
      const auto made = store->make_temporary();
      BOOST_REQUIRE(!made.has_value());
      BOOST_TEST(to_string(made.error().code) == "IO_ERROR");
      BOOST_TEST(made.error().message == row.message);
      BOOST_TEST(made.error().hint ==
                 "name a directory that can be written with --cache-dir or TOFU_MODLOCK_CACHE_DIR");
    }
  }
}

BOOST_AUTO_TEST_CASE(who_else_may_write_is_known) {
  struct Row {
    unsigned mode;
    std::string message;
  };
  const TemporaryDirectory directory;
  const fs::path root = directory / "store";
  BOOST_TEST(!open_store(root).foreign_writers().has_value());
  fs::create_directories(root);
  for (const Row& row : {Row{0700, "<none>"}, Row{0755, "<none>"}, Row{0775, "other users may write to it"},
                         Row{01777, "other users may write to it"}}) {
    fs::permissions(root, fs::perms{row.mode});
    const auto others = open_store(root).foreign_writers();
    BOOST_TEST((others ? others->message : "<none>") == row.message, row.mode);
    BOOST_TEST((others ? others->hint.text() : "chmod go-w " + root.string()) == "chmod go-w " + root.string());
  }
  fs::permissions(root, fs::perms::owner_all);
  fs::create_directories(root / "v2/packages");
  for (const char* inner : {"v2", "v2/packages"}) {
    fs::permissions(root / inner, fs::perms{0777});
    const auto others = open_store(root).foreign_writers();
    BOOST_TEST((others ? others->hint.text() : "<none>") == "chmod go-w " + (root / inner).string());
    fs::permissions(root / inner, fs::perms::owner_all);
  }
}

BOOST_AUTO_TEST_CASE(a_store_of_another_user_is_known, *needs("root")) {
  const TemporaryDirectory directory;
  BOOST_REQUIRE(::chown(directory.path().c_str(), 4242, 4242) == 0);
  const auto others = open_store(directory.path()).foreign_writers();
  BOOST_REQUIRE(others.has_value());
  BOOST_TEST(others->message == "it belongs to the user 4242, who may change its content");
}

BOOST_AUTO_TEST_CASE(a_newer_layout_beside_ours_is_fine) {
  const TemporaryDirectory directory;
  write_text(directory / "store/v2/anything", "");
  for (const char* layout : {"1", "2", "01\n", "", "unknown"}) {
    write_text(directory / "store/layout", layout);
    (void)open_store(directory / "store");
  }
}

BOOST_AUTO_TEST_CASE(trees_come_from_other_file_systems, *needs(kMount)) {
  const SmallDisk disk;
  const TemporaryDirectory directory;
  const Store store = open_store(directory / "store");
  const Package package = admitted(store, tree_at(disk / "fetched"));
  BOOST_TEST(read_file(package.directory / "main.tf").value() == "content");
  BOOST_TEST(mode_of(package.directory / "sub/run.sh") == 0755U);
  BOOST_TEST(!fs::exists(disk / "fetched"));
}

BOOST_AUTO_TEST_CASE(a_full_disk_keeps_the_tree_and_the_store, *needs(kMount)) {
  const SmallDisk disk;
  const TemporaryDirectory directory;
  const Store store = open_store(disk / "store");
  const Package package = admitted(store, tree_at(directory / "one"));
  const auto refused = store.admit(kSource, tree_at(directory / "two", std::string(200000, 'x'), "2222"), Context{});
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST(to_string(refused.error().code) == "IO_ERROR");
  BOOST_TEST(refused.error().message.ends_with("/tree/main.tf\": No space left on device"));
  BOOST_TEST(refused.error().hint == "free some space there, then run it again");
  BOOST_TEST(fs::exists(directory / "two/main.tf"));
  BOOST_TEST(measure(store)->unfinished_bytes == 0U);
  BOOST_TEST(!store.find(kSource, "2222").has_value());
  BOOST_TEST(store.find(kSource, kId).has_value());
}

BOOST_AUTO_TEST_CASE(a_read_only_store_still_answers, *needs(kMount)) {
  const SmallDisk disk;
  const TemporaryDirectory directory;
  const Store store = open_store(disk / "store");
  const Package package = admitted(store, tree_at(directory / "one"));
  BOOST_REQUIRE(disk.make_read_only());
  BOOST_TEST(open_store(disk / "store").find(kSource, kId).has_value());
  const auto refused = store.admit(kSource, tree_at(directory / "two", "other", "2222"), Context{});
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST(to_string(refused.error().code) == "IO_ERROR");
  BOOST_TEST(refused.error().message.ends_with(": Read-only file system"));
  BOOST_TEST(fs::exists(directory / "two/main.tf"));
}

BOOST_AUTO_TEST_CASE(default_roots) {
  struct Row {
    const char* name;
    const char* xdg_cache_home;
    const char* home;
    const char* expected;
  };
  const Row rows[] = {
      {"XDG", "/xdg", "/home/user", "/xdg/tofu-modlock"},
      {"home", nullptr, "/home/user", "/home/user/.cache/tofu-modlock"},
      {"an empty XDG", "", "/home/user", "/home/user/.cache/tofu-modlock"},
      {"a relative XDG", "cache", "/home/user", "/home/user/.cache/tofu-modlock"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Variable xdg("XDG_CACHE_HOME", row.xdg_cache_home);
      const Variable home("HOME", row.home);
      BOOST_TEST(default_store_root() == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
