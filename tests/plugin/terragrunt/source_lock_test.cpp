#include "plugin/terragrunt/source_lock.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "backends/base/files.h"
#include "plugin/lock/backup.h"
#include "tests/support/environment.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::terragrunt;
using namespace modlock::test;

namespace {

namespace fs = std::filesystem;

// A unit whose package, a tag of a git repository, was downloaded to the directory in which the client runs.
struct Unit {
  Unit() {
    stacks.commit({{"main.tf", "# 1\n"}, {"notes", "1\n"}});
    stacks.tag("v1.0.0");
    directory.write("unit/main.tf", "# 1\n");
    directory.write("unit/notes", "1\n");
    BOOST_TEST_REQUIRE(engine.open().has_value());
  }

  UnitSourceOptions options(OpenRoot& root) const {
    const auto call = call_of_unit(root, source);
    BOOST_TEST_REQUIRE((call && call->node));
    return {.downloaded = directory / "unit", .source = *call->node, .is_own = [this](const fs::path& file) {
              return file.filename() == replaced;
            }};
  }
  std::unique_ptr<OpenRoot> open(const Engine& asked) {
    messages::RootParams root;
    root.root = (directory / "unit").string();
    run.texts = std::make_shared<ReadTexts>();  // the test may have written the files
    return OpenRoot::open(asked, run, root, {}).value();
  }
  // What a run has fetched is fresh until it ends, and for a step of the file system's clock longer.
  void begin_run() {
    run = Run();
    fs::remove_all(engine.store().answer_directory());
  }
  Result<LockedUnitSource> lock(const std::string& mode = "missing") {
    run.diagnostics.clear();
    const auto root = open(engine);
    auto locked = lock_unit_source(*root, options(*root), *messages::named<messages::PlanMode>(mode));
    if (locked && !locked->change.empty()) {
      BOOST_TEST_REQUIRE(write_unit_source(*root, locked->entry).has_value());
    }
    return locked;
  }
  std::string lock_text() const { return read_file(directory / "unit/.terraform.lock.hcl").value_or(""); }
  // "tampered main.tf was changed".
  std::string verdict(const Engine& asked) {
    const auto root = open(asked);
    const auto verified = verify_unit_source(*root, options(*root));
    BOOST_TEST_REQUIRE(verified.has_value());
    const Verdict& found = verified->verdict;
    BOOST_TEST(found.subject == "terragrunt:source");
    std::string text(to_string(found.kind));
    text += found.detail.empty() ? "" : " " + found.detail;
    for (const std::string& path : found.paths) {
      text += " " + path;
    }
    return text;
  }

  TemporaryDirectory directory;
  ScopedEnvironment home{"HOME", (directory / "home").string()};
  ScopedEnvironment config{"XDG_CONFIG_HOME", (directory / "home").string()};
  GitRepository stacks{directory / "stacks.git"};
  std::optional<UnitSource> source = UnitSource{.source = {"git::" + stacks.url() + "?ref=v1.0.0", {}}};
  std::string replaced;
  Engine engine{{.cache_directory = directory / "cache", .user_settings = {}, .implementation = "opentofu"}};
  Run run;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(source_lock, Unit)

BOOST_AUTO_TEST_CASE(locking_writes_the_entry_once) {
  BOOST_TEST(verdict(engine) == "not-locked not locked");
  const auto first = lock();
  BOOST_TEST_REQUIRE(first.has_value());
  BOOST_TEST(first->change == "locked");
  const std::string text = lock_text();
  BOOST_TEST(
      text.find("module \"terragrunt:source\" {\n  source = \"" + source->source.text + "\"\n") != std::string::npos,
      text);
  BOOST_TEST(text.find(first->entry.hash_value("h1")) != std::string::npos, text);
  const auto second = lock("frozen");
  BOOST_TEST_REQUIRE(second.has_value());
  BOOST_TEST(second->change == "");
  BOOST_TEST(lock_text() == text);
}

BOOST_AUTO_TEST_CASE(a_release_without_the_demanded_signature_is_not_locked) {
  const auto demand = [&] {
    directory.write("unit/signers", "");
    directory.write("unit/.tofu-modlock.hcl", "source \"*/stacks*\" {\n  signed_by_ssh = \"signers\"\n}\n");
  };
  demand();
  const auto refused = lock();
  BOOST_TEST_REQUIRE(!refused.has_value());
  BOOST_TEST(exit_code(refused.error()) == 4);
  BOOST_TEST(refused.error().message.find("the tag \"v1.0.0\" of ") == 0U, refused.error().message);
  std::filesystem::remove(directory / "unit/.tofu-modlock.hcl");
  BOOST_TEST_REQUIRE(lock().has_value());
  demand();
  BOOST_TEST(lock("frozen").has_value());
}

BOOST_AUTO_TEST_CASE(a_denied_release_is_neither_locked_nor_verified) {
  BOOST_TEST_REQUIRE(lock().has_value());
  BOOST_TEST(verdict(engine) == "held");
  directory.write("unit/.tofu-modlock.hcl",
                  "deny \"*/stacks\" {\n  commits = [\"" + stacks.id("v1.0.0") + "\"]\n  reason = \"INC-7\"\n}\n");
  const auto locked = lock("frozen");
  BOOST_TEST_REQUIRE(!locked.has_value());
  BOOST_TEST(exit_code(locked.error()) == 4);
  BOOST_TEST(
      locked.error().message.find(" is denied by \"*/stacks\" in .tofu-modlock.hcl:1: INC-7") != std::string::npos,
      locked.error().message);
  const auto root = open(engine);
  const auto verified = verify_unit_source(*root, options(*root));
  BOOST_TEST_REQUIRE(!verified.has_value());
  BOOST_TEST(verified.error().message == locked.error().message);
}

// "v1.0.0" is a tag and "main" a branch. Both move after the first lock.
BOOST_AUTO_TEST_CASE(only_an_upgrade_of_a_branch_locks_again) {
  struct Row {
    const char* name;
    std::string locked;
    std::string wanted;
    const char* mode;
    bool is_moved;
    bool is_written;
  };
  const Row rows[] = {
      {"a tag", "v1.0.0", "v1.0.0", "missing", false, false},
      {"a branch", "main", "main", "missing", false, false},
      {"another reference", "v1.0.0", "main", "missing", false, true},
      {"a tag in CI", "v1.0.0", "v1.0.0", "frozen", false, false},
      {"upgrade of a tag", "v1.0.0", "v1.0.0", "upgrade", true, false},
      {"upgrade of a branch", "main", "main", "upgrade", false, true},
      {"upgrade to another reference", "main", "v1.0.0", "upgrade", false, true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Unit unit;
      const auto lock = [&](const std::string& ref, const char* mode) {
        unit.begin_run();
        unit.source = UnitSource{.source = {"git::" + unit.stacks.url() + "?ref=" + ref, {}}};
        auto locked = unit.lock(mode);
        BOOST_TEST_REQUIRE(locked.has_value());
        return *std::move(locked);
      };
      const auto before = lock(row.locked, "missing");
      const std::string text = unit.lock_text();
      const std::string former = unit.stacks.id("main");
      unit.stacks.commit({{"main.tf", "# 2\n"}, {"notes", "1\n"}});
      unit.stacks.tag("v1.0.0");
      const std::string current = unit.stacks.id("main");
      const auto after = lock(row.wanted, row.mode);
      BOOST_TEST(after.change == (row.is_written ? "locked again" : ""));
      BOOST_TEST((unit.lock_text() == text) == !row.is_written);
      BOOST_TEST(after.entry.hash_value("git") == (row.is_written ? current : former));
      BOOST_TEST(after.moved.has_value() == row.is_moved);
      if (after.moved) {
        BOOST_TEST(after.moved->locked == "git:" + former);
        BOOST_TEST(after.moved->offered == "git:" + current);
      }
      BOOST_TEST(unit.verdict(unit.engine) == (row.is_written ? "tampered main.tf was changed" : "held"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_locked_package_in_the_store_needs_no_request) {
  BOOST_TEST_REQUIRE(lock().has_value());
  fs::remove_all(stacks.path());
  run = Run();
  const auto again = lock();
  BOOST_TEST_REQUIRE(again.has_value());
  BOOST_TEST(again->change == "");
}

BOOST_AUTO_TEST_CASE(a_dropped_entry_is_used_unless_newer_versions_are_wanted) {
  for (const char* mode : {"missing", "upgrade"}) {
    BOOST_TEST_CONTEXT(mode) {
      Unit unit;
      const auto locked = unit.lock();
      BOOST_TEST_REQUIRE(locked.has_value());
      const fs::path root = unit.directory / "unit";
      BOOST_TEST_REQUIRE(
          save_lock_backup(root / ".terraform", {{"terragrunt:source", locked->entry}}, root, Context()).has_value());
      unit.directory.write("unit/.terraform.lock.hcl", std::string(kOpenTofuLockHeader));
      unit.stacks.commit({{"main.tf", "# 2\n"}, {"notes", "1\n"}});
      unit.stacks.tag("v1.0.0");
      unit.begin_run();
      const auto again = unit.lock(mode);
      BOOST_TEST_REQUIRE(again.has_value());
      const bool is_restored = std::string(mode) == "missing";
      BOOST_TEST(again->change == (is_restored ? "restored" : "locked"));
      BOOST_TEST((again->entry == locked->entry) == is_restored);
    }
  }
}

BOOST_AUTO_TEST_CASE(frozen_locks_nothing) {
  const auto locked = lock("frozen");
  BOOST_TEST_REQUIRE(!locked.has_value());
  BOOST_TEST((locked.error().code == Code::frozen));
  BOOST_TEST(lock_text() == "");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_locked) {
  struct Row {
    const char* name;
    std::optional<UnitSource> source;
    const char* verdict;
  };
  const Row rows[] = {
      {"no source", std::nullopt, "none"},
      {"a local directory", UnitSource{.source = {"./modules", {}}}, "none"},
      {"no source address", UnitSource{.source = {"no address", {}}},
       "unchecked the module source \"no address\" is not a known kind of source"},
      {"no backend serves it", UnitSource{.source = {"hg::https://h.example/b/m", {}}},
       "unchecked hg sources are not supported (\"hg::https://h.example/b/m\")"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto call = call_of_unit(*open(engine), row.source);
      BOOST_TEST_REQUIRE(call.has_value());
      BOOST_TEST(!call->node.has_value());
      BOOST_TEST((call->unchecked ? "unchecked " + call->unchecked->message : "none") == row.verdict);
      BOOST_TEST(run.diagnostics.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(downloaded_files_are_compared) {
  BOOST_TEST_REQUIRE(lock().has_value());
  BOOST_TEST(verdict(engine) == "held");
  directory.write("unit/added.txt", "");
  BOOST_TEST(verdict(engine) == "held");
  directory.write("unit/added.tf", "");
  BOOST_TEST(verdict(engine) == "tampered added.tf was added");
  replaced = "added.tf";
  BOOST_TEST(verdict(engine) == "held");
  fs::remove(directory / "unit/added.tf");
  directory.write("unit/notes", "2\n");
  fs::remove(directory / "unit/main.tf");
  BOOST_TEST(verdict(engine) == "tampered main.tf was deleted notes was changed");
  replaced = "main.tf";
  BOOST_TEST(verdict(engine) == "tampered main.tf was deleted notes was changed");  // it has to exist
  directory.write("unit/main.tf", "# of the user\n");
  BOOST_TEST(verdict(engine) == "tampered notes was changed");
}

// Terragrunt's own store does not convert line endings as git does.
BOOST_AUTO_TEST_CASE(line_endings_may_be_those_of_the_commit) {
  stacks.commit({{".gitattributes", "*.txt text eol=crlf\n"}, {"main.tf", "# 1\n"}, {"notes.txt", "1\n2\n"}});
  stacks.tag("v1.0.0");
  fs::remove(directory / "unit/notes");
  directory.write("unit/.gitattributes", "*.txt text eol=crlf\n");
  for (const auto& [text, expected] :
       {std::pair("1\r\n2\r\n", "held"), std::pair("1\n2\n", "held"),
        std::pair("1\n2", "tampered notes.txt was changed"), std::pair("1\n3\n", "tampered notes.txt was changed")}) {
    directory.write("unit/notes.txt", text);
    BOOST_TEST_REQUIRE(lock().has_value());
    BOOST_TEST(verdict(engine) == expected);
  }
}

BOOST_AUTO_TEST_CASE(without_its_files_an_entry_cannot_be_checked) {
  BOOST_TEST_REQUIRE(lock().has_value());
  fs::remove_all(directory / "unit/.terraform");
  Engine other({.cache_directory = directory / "empty", .user_settings = {}, .implementation = "opentofu"});
  BOOST_TEST_REQUIRE(other.open().has_value());
  BOOST_TEST(verdict(other) == "missing");
  BOOST_TEST(verdict(engine) == "held");    // from its cache, which also writes the list of files
  BOOST_TEST(verdict(other) == "missing");  // a list of files proves no source
}

BOOST_AUTO_TEST_CASE(git_lfs_pointers_in_a_copied_source_are_a_warning) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') + "\nsize 3\n";
  const std::string commit =
      stacks.commit({{".gitattributes", "*.zip filter=lfs\n"}, {"f.zip", pointer}, {"main.tf", ""}});
  stacks.tag("v1.5.0", commit);
  source->source.text = "git::" + stacks.url() + "?ref=v1.5.0";
  BOOST_REQUIRE(lock().has_value());
  run.diagnostics.clear();
  const auto root = open(engine);
  const auto copied = copy_unit_source(*root, options(*root).source, directory / "copy");
  BOOST_TEST((copied && *copied));
  BOOST_TEST_REQUIRE(run.diagnostics.size() == 1U);
  BOOST_TEST(run.diagnostics[0].what.message ==
             "module \"terragrunt:source\" has Git LFS pointers in place of the content of \"f.zip\"");
  BOOST_TEST((run.diagnostics[0].what.code == Code::lfs_pointer));
}

BOOST_AUTO_TEST_SUITE_END()
