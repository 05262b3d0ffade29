// scripts/lock-bot over repositories of every kind: a branch each, and what is checked out left alone.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct Bot : Scene {
  Bot() : vpc(repository("vpc.git")) {
    for (const char* version : {"1.0.0", "1.1.0", "2.0.0"}) {
      release(vpc, version);
    }
    registry.publish({.name = "acme/cloud", .version = "1.0.0"});
    write_text(path("tofurc"), registry.host_block("registry.opentofu.org"));
    write_text(path("home/.gitconfig"), "[user]\n\tname = bot\n\temail = bot@example.test\n[url \"" + vpc.url() +
                                            "\"]\n\tinsteadOf = https://github.com/acme/vpc.git\n");
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["TF_CLI_ARGS"] = "";
  }

  std::string git() const { return "git::" + vpc.url(); }

  // A repository below root(), with a lock for each directory that has a main.tf.
  void make(const std::string& name, const std::map<std::string, std::string>& files) {
    for (const auto& [file, text] : files) {
      write(name + "/" + file, text);
    }
    run_git(name, {"init", "-q", "-b", "main"});
    for (const auto& [file, text] : files) {
      if (fs::path(file).stem().stem() == "main") {
        const std::string directory = (root() / name / file).parent_path().string();
        const Ran locked = modlock({"lock", "--implementation", "opentofu", "--chdir", directory});
        BOOST_TEST(locked.exit_code == 0, locked.err);
      }
    }
    run_git(name, {"add", "-A"});
    run_git(name, {"commit", "-q", "-m", "first"});
  }

  std::string run_git(const std::string& name, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"git", "-C", (root() / name).string()});
    const Ran ran = program(arguments);
    BOOST_TEST(ran.exit_code == 0, ran.err);
    return ran.out;
  }

  Ran bot(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {"python3", std::string(MODLOCK_SCRIPTS) + "/lock-bot", "--binary", binary});
    arguments.push_back(root().string());
    return program(arguments);
  }

  std::string on_branch(const std::string& name, const std::string& file) const {
    return run_git(name, {"show", "tofu-modlock/updates:" + file});
  }

  // As a colleague would: from a clone of the branch.
  int frozen(const std::string& name, const std::string& directory) const {
    const std::string clone = path("clones/" + name).string();
    run_git(name, {"clone", "-q", "-b", "tofu-modlock/updates", (root() / name).string(), clone});
    return modlock({"lock", "--frozen", "--implementation", "opentofu", "--chdir", clone + "/" + directory}).exit_code;
  }

  ProviderRegistry registry;
  GitRepository& vpc;
};

BOOST_FIXTURE_TEST_SUITE(lock_bot, Bot)

BOOST_AUTO_TEST_CASE(ten_repositories_ten_branches) {
  const std::string tag = "?ref=v1.0.0";
  const std::string hosted = "git::https://github.com/acme/vpc.git";
  make("r0", {{"main.tf", "# a tag\n" + module_call("vpc", hosted + tag)}});
  make("r1", {{"main.tf", module_call("vpc", git(), "1.0.0") + "# a constraint\n"}});
  make("r2", {{"main.tf.json", R"({"module": {"vpc": {"source": ")" + git() + tag + R"("}}})"}});
  make("r3", {{"main.tf", "locals {\n  tag = \"v1.0.0\"\n}\n" + module_call("vpc", git() + "?ref=${local.tag}")}});
  make("r4", {{"main.tf", module_call("vpc", git())}, {".tofu-modlock.hcl", module_rule("vpc", "1.0.0")}});
  make("r5", {{"main.tf", required_cloud("~> 1.0")}});
  make("r6", {{"a/main.tf", module_call("vpc", git() + tag)}, {"b/main.tf", module_call("vpc", git() + tag)}});
  make("r7", {{"main.tf", module_call("vpc", git() + "?ref=" + vpc.id("v1.0.0"))}});
  make("r8", {{"live/main.tf", module_call("net", "../net")}, {"net/net.tf", module_call("vpc", git() + tag)}});
  make("r9", {{"main.tf", "module \"vpc\" {\r\n  source = \"" + git() + tag + "\" # kept\r\n}\r\n"}});
  registry.publish({.name = "acme/cloud", .version = "1.2.0"});
  const Ran ran = bot({"--summaries", path("summaries").string()});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  for (int i = 0; i < 10; ++i) {
    const std::string name = fmt::format("r{}", i);
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(run_git(name, {"status", "--porcelain"}) == "");
      BOOST_TEST(run_git(name, {"worktree", "list"}).find('\n') == run_git(name, {"worktree", "list"}).size() - 1);
      BOOST_TEST(frozen(name, i == 6 ? "b" : i == 8 ? "live" : ".") == 0);
      BOOST_TEST(read_text(path("summaries/" + name + ".md")).find("| Subject | Change | From | To |") !=
                 std::string::npos);
      BOOST_TEST(ran.out.find(name + ": tofu-modlock/updates\n") != std::string::npos);
    }
  }
  const std::string shown_git = shown(git());
  const std::string summary = shown(read_text(path("summaries/r0.md")));
  BOOST_TEST(summary.find("\n### module.vpc: v1.0.0 ") != std::string::npos, summary);
  BOOST_TEST(summary.ends_with("[Compare](https://github.com/acme/vpc/compare/<1.0.0>...<1.1.0>)\n"), summary);
  BOOST_TEST(on_branch("r0", "main.tf") == "# a tag\n" + module_call("vpc", hosted + "?ref=v1.1.0"));
  BOOST_TEST(on_branch("r1", "main.tf") == module_call("vpc", shown_git, "1.1.0") + "# a constraint\n");
  BOOST_TEST(on_branch("r2", "main.tf.json").find("?ref=v1.1.0\"}}}") != std::string::npos);
  BOOST_TEST(on_branch("r3", "main.tf").find("tag = \"v1.1.0\"") != std::string::npos);
  BOOST_TEST(on_branch("r4", ".tofu-modlock.hcl") == module_rule("vpc", "1.1.0"));
  BOOST_TEST(on_branch("r5", "main.tf") == required_cloud("~> 1.0"));
  BOOST_TEST(on_branch("r5", ".terraform.lock.hcl").find("version     = \"1.2.0\"") != std::string::npos);
  BOOST_TEST(run_git("r6", {"rev-list", "--count", "main..tofu-modlock/updates"}) == "2\n");
  BOOST_TEST(on_branch("r7", "main.tf") == module_call("vpc", shown_git + "?ref=<1.1.0>"));
  BOOST_TEST(on_branch("r8", "net/net.tf") == module_call("vpc", shown_git + "?ref=v1.1.0"));
  BOOST_TEST(on_branch("r9", "main.tf") ==
             "module \"vpc\" {\r\n  source = \"" + shown_git + "?ref=v1.1.0\" # kept\r\n}\r\n");
  BOOST_TEST(run_git("r0", {"log", "-1", "--format=%s", "tofu-modlock/updates"}) == "Update module.vpc to v1.1.0\n");
}

BOOST_AUTO_TEST_CASE(nothing_newer_is_no_branch) {
  make("r0", {{"main.tf", module_call("vpc", git() + "?ref=v2.0.0")}});
  const Ran ran = bot();
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(run_git("r0", {"branch", "--list", "tofu-modlock/updates"}) == "");
}

BOOST_AUTO_TEST_CASE(major_versions_where_they_are_wanted) {
  make("r0", {{"main.tf", module_call("vpc", git() + "?ref=v1.0.0")}});
  BOOST_TEST(bot({"--major"}).exit_code == 0);
  BOOST_TEST(on_branch("r0", "main.tf") == module_call("vpc", shown(git()) + "?ref=v2.0.0"));
}

// The setting was added after the lock: the update moves the blocks, and the first file is deleted.
BOOST_AUTO_TEST_CASE(a_file_that_the_edits_delete_is_deleted) {
  make("r0", {{"main.tf", module_call("vpc", git() + "?ref=v1.0.0")}});
  write("r0/.tofu-modlock.hcl", "module_lock_file = \"sidecar\"\n");
  run_git("r0", {"add", "-A"});
  run_git("r0", {"commit", "-q", "-m", "sidecar"});
  const Ran ran = bot();
  BOOST_TEST(ran.exit_code == 0, ran.err);
  const std::string files = run_git("r0", {"ls-tree", "--name-only", "tofu-modlock/updates"});
  BOOST_TEST(files.find(".terraform.lock.hcl") == std::string::npos, files);
  BOOST_TEST(files.find(".terraform.modules.lock.hcl") != std::string::npos, files);
  BOOST_TEST(frozen("r0", ".") == 0);
}

BOOST_AUTO_TEST_CASE(one_that_fails_does_not_stop_the_others) {
  make("r0", {{"main.tf", module_call("vpc", git() + "?ref=v1.0.0")}});
  write("r0/main.tf", "module {");
  run_git("r0", {"commit", "-q", "-a", "-m", "broken"});
  make("r1", {{"main.tf", module_call("vpc", git() + "?ref=v1.0.0")}});
  const Ran ran = bot();
  BOOST_TEST(ran.exit_code == 1);
  BOOST_TEST(ran.err.find("r0: ") == 0U, ran.err);
  BOOST_TEST(on_branch("r1", "main.tf") == module_call("vpc", shown(git()) + "?ref=v1.1.0"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
