#include "plugin/lock/backup.h"

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <sstream>

#include "tests/plugin/lock/samples.h"
#include "tests/plugin/lock/shell.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

template <typename Found>
bool found_nothing(const Result<std::optional<Found>>& result) {
  return result && !result->has_value();
}

// A git repository of one test, with no configuration but its own.
class Repository {
 public:
  Repository() { git("init -q -b main ."); }

  void git(const std::string& arguments) {
    const ShellResult result = run_shell("cd '" + directory.path().string() +
                                         "' && HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null git "
                                         "-c user.name=t -c user.email=t@t " +
                                         arguments + " 2>&1");
    BOOST_TEST_REQUIRE(result.exit_code == 0, result.output);
  }
  void commit(std::string_view path, const std::string& text) {
    directory.write(path, text);
    git("add -A");
    git("commit -q --allow-empty -m change");
  }

  TemporaryDirectory directory;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(copy)

BOOST_AUTO_TEST_CASE(saved_and_loaded) {
  const TemporaryDirectory directory;
  const auto data = directory / ".terraform";
  const ModuleLocks modules = locks({nested_module(), {.key = "a", .source = "s"}});
  BOOST_TEST_REQUIRE(save_lock_backup(data, modules, directory.path(), Context{}).has_value());
  BOOST_TEST(content(data / "tofu-modlock" / "lock.hcl") ==
             "# The module blocks of .terraform.lock.hcl. tofu-modlock puts them back where OpenTofu dropped them.\n\n"
             "module \"a\" {\n  source = \"s\"\n}\n\n" +
                 kNestedBlock);
  const auto loaded = load_lock_backup(data);
  BOOST_TEST_REQUIRE((loaded && *loaded));
  BOOST_TEST(((*loaded)->modules == modules));
  BOOST_TEST((*loaded)->committed_id == "");
}

BOOST_AUTO_TEST_CASE(an_equal_copy_is_left_alone) {
  const TemporaryDirectory directory;
  const ModuleLocks modules = locks({nested_module()});
  BOOST_TEST_REQUIRE(save_lock_backup(directory.path(), modules, directory.path(), Context{}).has_value());
  const auto path = directory / "tofu-modlock/lock.hcl";
  const auto long_ago = std::filesystem::last_write_time(path) - std::chrono::hours(1);
  std::filesystem::last_write_time(path, long_ago);
  BOOST_TEST_REQUIRE(save_lock_backup(directory.path(), modules, directory.path(), Context{}).has_value());
  BOOST_TEST((std::filesystem::last_write_time(path) == long_ago));
  BOOST_TEST_REQUIRE(save_lock_backup(directory.path(), {}, directory.path(), Context{}).has_value());
  BOOST_TEST((std::filesystem::last_write_time(path) != long_ago));
  BOOST_TEST(load_lock_backup(directory.path())->value().modules.empty());
}

BOOST_AUTO_TEST_CASE(no_modules_make_no_copy) {
  const TemporaryDirectory directory;
  BOOST_TEST(save_lock_backup(directory.path(), {}, directory.path(), Context{}).has_value());
  BOOST_TEST(!std::filesystem::exists(directory / "tofu-modlock"));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_no_copy) {
  const TemporaryDirectory directory;
  BOOST_TEST(found_nothing(load_lock_backup(directory.path())));
  directory.write("tofu-modlock/lock.hcl", "module \"a\" {");
  BOOST_TEST(found_nothing(load_lock_backup(directory.path())));
}

BOOST_AUTO_TEST_CASE(a_copy_that_cannot_be_read_is_not_taken_for_none) {
  const TemporaryDirectory directory;
  directory.write("tofu-modlock/lock.hcl/file", "");
  const auto loaded = load_lock_backup(directory.path());
  BOOST_TEST_REQUIRE(!loaded.has_value());
  BOOST_TEST((loaded.error().code == Code::io_error));
  BOOST_TEST(loaded.error().message ==
             "cannot read \"" + (directory / "tofu-modlock/lock.hcl").string() + "\": Is a directory");
}

BOOST_AUTO_TEST_CASE(committed_locks) {
  const std::string with_modules = kHeader + "\n" + kNestedBlock + kProviders;
  struct Row {
    const char* name;
    std::vector<std::string> versions;
    bool found;
  };
  const Row rows[] = {
      {"head", {with_modules}, true},
      {"older version", {with_modules, kHeader + kProviders, kHeader}, true},
      {"never", {kHeader + kProviders, kHeader}, false},
      {"broken versions are passed over", {with_modules, "module {"}, true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Repository repository;
      for (const std::string& version : row.versions) {
        repository.commit("live/.terraform.lock.hcl", version);
      }
      const auto modules = committed_module_locks(repository.directory / "live", kLockFileName, Context{});
      BOOST_TEST_REQUIRE(modules.has_value());
      BOOST_TEST(modules->has_value() == row.found);
      if (row.found) {
        BOOST_TEST((**modules == locks({nested_module()})));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_newest_version_wins) {
  Repository repository;
  repository.commit(".terraform.lock.hcl", "module \"a\" {\n  source = \"old\"\n}\n");
  repository.commit(".terraform.lock.hcl", "module \"a\" {\n  source = \"new\"\n}\n");
  repository.commit(".terraform.lock.hcl", kHeader);
  const auto modules = committed_module_locks(repository.directory.path(), kLockFileName, Context{});
  BOOST_TEST_REQUIRE((modules && *modules));
  BOOST_TEST((*modules)->at("a").source == "new");
}

BOOST_AUTO_TEST_CASE(nothing_was_committed) {
  const TemporaryDirectory plain;
  BOOST_TEST(found_nothing(committed_module_locks(plain.path(), kLockFileName, Context{})));
  Repository repository;
  BOOST_TEST(found_nothing(committed_module_locks(repository.directory.path(), kLockFileName, Context{})));
  repository.commit("main.tf", "");
  BOOST_TEST(found_nothing(committed_module_locks(repository.directory.path(), kLockFileName, Context{})));
}

BOOST_AUTO_TEST_CASE(a_copy_names_the_committed_version) {
  for (const std::string_view name : {kLockFileName, kSidecarFileName}) {
    BOOST_TEST_CONTEXT(name) {
      Repository repository;
      repository.commit(name, kHeader + "\n" + kNestedBlock);
      const auto data = repository.directory / ".terraform";
      const ModuleLocks modules = locks({nested_module()});
      BOOST_TEST_REQUIRE(save_lock_backup(data, modules, repository.directory.path(), Context{}).has_value());
      const auto loaded = load_lock_backup(data);
      BOOST_TEST_REQUIRE((loaded && *loaded));
      BOOST_TEST((*loaded)->committed_id.size() == 40U);
      BOOST_TEST((*loaded)->committed_id == committed_lock_id(repository.directory.path(), name, Context{}).value());
      BOOST_TEST(((*loaded)->modules == modules));
      const auto path = data / "tofu-modlock/lock.hcl";
      const std::string text = content(path);
      repository.commit(name, kHeader + "\n" + kNestedBlock + kProviders);
      BOOST_TEST_REQUIRE(save_lock_backup(data, modules, repository.directory.path(), Context{}).has_value());
      BOOST_TEST(content(path) == text);
    }
  }
}

BOOST_AUTO_TEST_CASE(entries_that_a_merge_dropped) {
  const auto block = [](const std::string& key, const std::string& source) {
    return "\n" + write_module_block({.key = key, .source = source});
  };
  struct Row {
    const char* name;
    std::vector<std::string> versions;
    const char* found;
  };
  const Row rows[] = {
      {"a version without blocks came between",
       {block("a", "1") + block("d", "1"), "", block("b", "1")},
       "a 1 b 1 d 1 "},
      {"the newest version of an entry", {block("a", "1"), block("a", "2"), "", block("b", "1")}, "a 2 b 1 "},
      {"an entry that was removed stays away", {block("a", "1") + block("d", "1"), block("a", "1")}, "a 1 "},
      {"no blocks before the first lock", {"", block("a", "1")}, "a 1 "},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Repository repository;
      for (const std::string& version : row.versions) {
        repository.commit(".terraform.lock.hcl", kHeader + version);
      }
      const auto modules = committed_module_locks(repository.directory.path(), kLockFileName, Context{});
      BOOST_TEST_REQUIRE((modules && *modules));
      std::string found;
      for (const auto& [key, entry] : **modules) {
        found += key + " " + entry.source + " ";
      }
      BOOST_TEST(found == row.found);
    }
  }
}

BOOST_AUTO_TEST_CASE(cut_off_history) {
  struct Row {
    const char* name;
    const char* file;   // that the last commit has
    const char* clone;  // flags
    bool expected;
  };
  const Row rows[] = {
      {"a shallow clone", ".terraform.lock.hcl", "--depth=1", true},
      {"a shallow clone that never had a lock file", "main.tf", "--depth=1", false},
      {"a full clone", ".terraform.lock.hcl", "", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Repository repository;
      repository.commit(row.file, kHeader + "\n" + kNestedBlock);
      repository.commit(row.file, kHeader);
      const TemporaryDirectory parent;
      const auto clone = parent / "clone";
      repository.git(std::string("clone -q ") + row.clone + " 'file://" + repository.directory.path().string() + "' '" +
                     clone.string() + "'");
      const auto gap = find_history_gap(clone, clone, kLockFileName, Context{});
      BOOST_TEST_REQUIRE(gap.has_value());
      BOOST_TEST(gap->has_value() == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_text_conversion_runs) {
  Repository repository;
  repository.directory.write(".gitattributes", "*.hcl diff=evil\n");
  repository.commit(".terraform.lock.hcl", kHeader + "\n" + kNestedBlock);
  repository.git("config diff.evil.textconv 'touch " + (repository.directory / "ran").string() + "; cat'");
  const auto modules = committed_module_locks(repository.directory.path(), kLockFileName, Context{});
  BOOST_TEST_REQUIRE((modules && *modules));
  BOOST_TEST(!std::filesystem::exists(repository.directory / "ran"));
}

BOOST_AUTO_TEST_CASE(a_cancelled_run_ends) {
  Repository repository;
  repository.commit(".terraform.lock.hcl", kHeader);
  std::stop_source stop;
  stop.request_stop();
  const auto modules =
      committed_module_locks(repository.directory.path(), kLockFileName, Context{.stop = stop.get_token()});
  BOOST_TEST_REQUIRE(!modules.has_value());
  BOOST_TEST((modules.error().code == Code::request_cancelled));
}

BOOST_AUTO_TEST_SUITE_END()
