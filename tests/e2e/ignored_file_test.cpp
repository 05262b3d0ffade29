// A lock file or settings file that git ignores: a clone does not have it.

#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"

using namespace modlock::test;

namespace {

// A root module in a git repository that calls one module of a version.
struct IgnoredFiles : Scene {
  IgnoredFiles() {
    GitRepository& vpc = repository("vpc.git");
    release(vpc, "1.0.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "1.0.0"));
    git({"init", "-q"});
  }

  Ran git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"git", "-c", "user.name=a", "-c", "user.email=a@example.test", "-c", "commit.gpgsign=false"});
    return program(std::move(arguments));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ignored_files, IgnoredFiles)

BOOST_AUTO_TEST_CASE(every_command_that_needs_the_file_names_the_rule) {
  struct Row {
    const char* name;
    const char* file;  // of the rule
    const char* rules;
    std::vector<const char*> named;
  };
  const Row rows[] = {
      {"the lock file", ".gitignore", ".terraform.lock.hcl\n", {".terraform.lock.hcl"}},
      {"a pattern", ".gitignore", "x\n.terraform*\n", {".terraform.lock.hcl"}},
      {"the settings, too", ".git/info/exclude", "*.hcl\n", {".terraform.lock.hcl", ".tofu-modlock.hcl"}},
      // Harmless.
      {"no rule", ".gitignore", ".terraform/\n", {}},
      {"an exception", ".gitignore", "*.hcl\n!.terraform.lock.hcl\n!.tofu-modlock.hcl\n", {}},
      {"another directory", ".gitignore", "/sub/.terraform.lock.hcl\n", {}},
      {"the whole directory", ".git/info/exclude", "", {}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      IgnoredFiles it;
      it.write(row.file, row.rules);
      std::string warnings;
      for (const char* const file : row.named) {
        const std::string rules = row.rules;
        const bool is_second = rules.starts_with("x\n");
        warnings += "Warning: git ignores " + std::string(file) + ", so a clone does not have it (rule " + row.file +
                    (is_second ? ":2:" : ":1:") + rules.substr(is_second ? 2 : 0, rules.size() - (is_second ? 3 : 1)) +
                    ") [LOCK_INCOMPLETE]\n  hint: run: git add --force " + file +
                    ", then commit it; or remove the rule\n";
      }
      const bool is_named = !row.named.empty();
      const Ran locked = it.modlock({"lock"});
      BOOST_TEST(locked.exit_code == 0, locked.err);
      BOOST_TEST(locked.err == warnings);
      BOOST_TEST(it.modlock({"install"}).exit_code == 0);
      BOOST_TEST((it.modlock({"status"}).err.find(warnings) != std::string::npos));
      BOOST_TEST((it.modlock({"doctor"}).out.find("git ignores") != std::string::npos) == is_named);
      BOOST_TEST(it.modlock({"verify"}).err == "");
      BOOST_TEST(it.modlock({"ci"}).exit_code == 0);
      std::filesystem::remove(it.root() / ".terraform.lock.hcl");  // as in a clone
      std::filesystem::remove_all(it.root() / ".terraform");
      for (const char* const command : {"ci", "install", "verify"}) {
        const Ran ran = it.modlock({command});
        BOOST_TEST(ran.exit_code == 3, ran.err);
        BOOST_TEST(occurrences(ran.err, "git ignores .terraform.lock.hcl, so a clone does not have it (rule ") ==
                       (is_named ? 1U : 0U),
                   command << ": " << ran.err);
      }
      // Once git tracks them, the rule has no effect.
      BOOST_REQUIRE(it.modlock({"lock"}).exit_code == 0);
      BOOST_REQUIRE(it.git({"add", "--force", "."}).exit_code == 0);
      BOOST_TEST(it.modlock({"status"}).err.find("git ignores") == std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_root_module_in_an_ignored_directory_has_no_warning) {
  write("copy/main.tf", read("main.tf"));
  write(".gitignore", "copy/\n");
  const Ran ran = modlock({"lock", "--chdir", "copy"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err == "");
}

BOOST_AUTO_TEST_SUITE_END()
