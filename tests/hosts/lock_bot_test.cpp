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
  BOOST_TEST(summary.find("\n### `module.vpc`: `v1.0.0 ") != std::string::npos, summary);
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

// What the author of a repository puts in the way of files that a bot might write.
BOOST_AUTO_TEST_CASE(links_of_a_repository_are_not_written_through) {
  struct Row {
    const char* name;
    const char* link;
    const char* target;
    bool is_updated;
  };
  const std::string call = module_call("vpc", git() + "?ref=v1.0.0");
  for (const Row& row :
       {Row{"a temporary file of the configuration", ".main.tf.new", "profile", true},
        Row{"a temporary file of the lock file", "..terraform.lock.hcl.new", "hook", true},
        Row{"the lock file", ".terraform.lock.hcl", "lock.hcl", false},
        Row{"the configuration", "main.tf", "main.tf", false}, Row{"the data directory", ".terraform", ".", false},
        Row{"a directory of a local module", "net", ".", false}}) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(root());
      fs::remove_all(path("outside"));
      make("r0", {{"main.tf", call}});
      write_text(path("outside/profile"), "theirs\n");
      write_text(path("outside/hook"), "theirs\n");
      write_text(path("outside/main.tf"), call);
      fs::copy_file(root() / "r0/.terraform.lock.hcl", path("outside/lock.hcl"));
      fs::remove_all(root() / "r0" / row.link);
      fs::create_symlink(path("outside") / row.target, root() / "r0" / row.link);
      if (row.link == std::string("net")) {
        write("r0/main.tf", module_call("net", "./net"));
      }
      run_git("r0", {"add", "-A", "-f"});
      run_git("r0", {"commit", "-q", "-m", "links"});
      const Ran ran = bot();
      BOOST_TEST(ran.exit_code == (row.is_updated ? 0 : 1), ran.out << ran.err);
      BOOST_TEST((run_git("r0", {"branch", "--list", "tofu-modlock/updates"}) != "") == row.is_updated);
      BOOST_TEST(read_text(path("outside/profile")) == "theirs\n");
      BOOST_TEST(read_text(path("outside/hook")) == "theirs\n");
      BOOST_TEST(read_text(path("outside/main.tf")) == call);
      BOOST_TEST(std::distance(fs::directory_iterator(path("outside")), {}) == 4);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_hook_of_a_committed_directory_runs) {
  make("r0", {{"main.tf", module_call("vpc", git() + "?ref=v1.0.0")}});
  for (const char* hook : {"post-checkout", "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit",
                           "post-index-change", "reference-transaction"}) {
    const std::string file = std::string("r0/.husky/") + hook;
    write(file, "#!/bin/sh\ntouch " + path("ran").string() + "\n");
    fs::permissions(root() / file, fs::perms::owner_all);
  }
  run_git("r0", {"add", "-A"});
  run_git("r0", {"commit", "-q", "-m", "hooks"});
  run_git("r0", {"config", "core.hooksPath", ".husky"});
  BOOST_TEST(bot().exit_code == 0);
  BOOST_TEST(on_branch("r0", "main.tf").find("?ref=v1.1.0") != std::string::npos);
  BOOST_TEST(!fs::exists(path("ran")));
}

BOOST_AUTO_TEST_CASE(names_that_are_not_utf8) {
  const std::string call = module_call("vpc", git() + "?ref=v1.0.0");
  make("r0", {{"main.tf", call}, {"a/x\xff", ""}});
  make("r1", {{"main.tf", call}, {"x\xff/main.tf", call}});
  make("r2", {{"main.tf", call}});
  const Ran ran = bot();
  BOOST_TEST(ran.exit_code == 1);
  BOOST_TEST(ran.err.find("r1: x\\udcff: a name that is not UTF-8 cannot be sent\n") != std::string::npos, ran.err);
  for (const char* name : {"r0", "r1", "r2"}) {
    BOOST_TEST(on_branch(name, "main.tf").find("?ref=v1.1.0") != std::string::npos, name);
    BOOST_TEST(occurrences(run_git(name, {"worktree", "list"}), "\n") == 1U);
  }
}

// `serve` ends at the second repository, each time that it is asked for it.
BOOST_AUTO_TEST_CASE(a_crash_stops_no_other_repository) {
  for (const char* name : {"r0", "r1", "r2"}) {
    make(name, {{"main.tf", module_call("vpc", git() + "?ref=v1.0.0")}});
  }
  const std::string crashing = path("crashing").string();
  write_text(crashing, "#!/bin/sh\n[ \"$1\" = serve ] || exec " + binary +
                           " \"$@\"\nsed -u '/lookup.*r1/q' | sed -u '/lookup.*r1/d' | " + binary + " serve\n");
  fs::permissions(crashing, fs::perms::owner_all);
  const Ran ran =
      program({"python3", std::string(MODLOCK_SCRIPTS) + "/lock-bot", "--binary", crashing, root().string()});
  BOOST_TEST(ran.exit_code == 1);
  BOOST_TEST(ran.err.find("r1: tofu-modlock ended before it answered\n") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("Traceback") == std::string::npos, ran.err);
  for (const char* name : {"r0", "r2"}) {
    BOOST_TEST(on_branch(name, "main.tf").find("?ref=v1.1.0") != std::string::npos, name);
  }
  BOOST_TEST(run_git("r1", {"branch", "--list", "tofu-modlock/updates"}) == "");
  BOOST_TEST(occurrences(run_git("r1", {"worktree", "list"}), "\n") == 1U);
}

BOOST_AUTO_TEST_CASE(a_commit_of_a_person_is_not_replaced) {
  struct Row {
    const char* name;
    const char* commands;  // after the first run of the bot
    const char* refused;   // nullptr: the branch is replaced
  };
  const std::string commit = "git commit -q --allow-empty -m theirs; ";
  const std::string to_branch = "git checkout -q tofu-modlock/updates; ";
  const std::string back = "git checkout -q main";
  const std::string on_top = to_branch + commit + back;
  const std::string amended = to_branch + "echo '# theirs' >> main.tf; git commit -q -a --amend --no-edit; " + back;
  const std::string reworded = to_branch + "git commit -q --amend -m \"$(git log -1 --format=%B) \" -m theirs; " + back;
  const std::string merged = to_branch + "git merge -q -m theirs main; " + back;
  const std::string fetched = on_top +
                              "; git update-ref refs/remotes/origin/tofu-modlock/updates tofu-modlock/updates; "
                              "git branch -q -D tofu-modlock/updates";
  const std::string made = "git branch -q -f tofu-modlock/updates $(git commit-tree -m theirs -p main 'main^{tree}')";
  const std::string merged_into_base = "git merge -q -m merged tofu-modlock/updates; " + commit;
  const std::string in_base = "git branch -q -f tofu-modlock/updates main";
  const char* const heads = "refs/heads/tofu-modlock/updates has the commit ";
  for (const Row& row :
       {Row{"on top", on_top.c_str(), heads}, Row{"another content", amended.c_str(), heads},
        Row{"another message", reworded.c_str(), heads}, Row{"a merge", merged.c_str(), heads},
        Row{"the first commit", made.c_str(), heads},
        Row{"only at the server", fetched.c_str(), "refs/remotes/origin/tofu-modlock/updates has the "},
        Row{"checked out", "git checkout -q tofu-modlock/updates", "tofu-modlock/updates is checked out in "},
        Row{"the bot's own commit", "", nullptr}, Row{"a commit of the base", in_base.c_str(), nullptr},
        Row{"merged into the base", merged_into_base.c_str(), nullptr}}) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(root());
      make("r0", {{"main.tf", module_call("vpc", git() + "?ref=v1.0.0")}});
      write("r0/other.tf", "# moves the base\n");
      BOOST_TEST(bot().exit_code == 0);
      run_git("r0", {"add", "-A"});
      run_git("r0", {"commit", "-q", "-m", "next"});
      const Ran prepared = program({"sh", "-ec", "cd r0; " + std::string(row.commands)});
      BOOST_TEST(prepared.exit_code == 0, prepared.err);
      const std::string refs = run_git("r0", {"for-each-ref"});
      const Ran ran = bot();
      BOOST_TEST(ran.exit_code == (row.refused == nullptr ? 0 : 1), ran.err);
      if (row.refused != nullptr) {
        BOOST_TEST(ran.err.find(std::string("r0: ") + row.refused) == 0U, ran.err);
        BOOST_TEST(ran.err.find("it was left as it is\n") != std::string::npos, ran.err);
        BOOST_TEST(run_git("r0", {"for-each-ref"}) == refs);
      } else if (row.name != std::string("merged into the base")) {  // nothing is newer there
        BOOST_TEST(run_git("r0", {"rev-parse", "tofu-modlock/updates^"}) == run_git("r0", {"rev-parse", "main"}));
      }
    }
  }
}

// Hosts read commit messages as commands: they have subjects, versions, and plain names of directories.
BOOST_AUTO_TEST_CASE(text_of_others_is_in_no_commit_message) {
  const std::string title = "Update module.vpc to v1.1.0";
  for (const auto& [directory, expected] :
       std::map<std::string, std::string>{{"live/prod_1", title + " in live/prod_1"},
                                          {"a [skip ci]", title},
                                          {"@acme", title},
                                          {"a#1", title},
                                          {"a: b", title},
                                          {"\u202ea", title}}) {
    BOOST_TEST_CONTEXT(directory) {
      fs::remove_all(root());
      make("r0", {{directory + "/main.tf", module_call("vpc", git() + "?ref=v1.0.0")}});
      const Ran ran = bot();
      BOOST_TEST(ran.exit_code == 0, ran.err);
      const std::string message = run_git("r0", {"log", "-1", "--format=%B", "tofu-modlock/updates"});
      const std::string body = "\n\n- module.vpc: source-changed, v1.0.0 to v1.1.0\n\nLock-bot: ";
      BOOST_TEST(message.starts_with(expected + body), message);
      BOOST_TEST(message.size() == expected.size() + body.size() + 42);
    }
  }
}

BOOST_AUTO_TEST_CASE(text_of_a_module_is_only_code_in_a_summary) {
  GitRepository& evil = repository("evil.git");
  release(evil, "1.0.0");
  release(evil, "1.1.0",
          {{"versions.tf",
            "terraform {\n  required_providers {\n    x = {\n      source  = \"acme/x\"\n      "
            "version = \"`` [skip ci] @all closes #1\\r# \\u202e<img src=x>\"\n    }\n  }\n}\n"}});
  make("r0", {{"main.tf",
               module_call("vpc", git() + "?ref=v1.0.0") + module_call("evil", "git::" + evil.url() + "?ref=v1.0.0")}});
  const Ran ran = bot({"--summaries", path("summaries").string()});
  BOOST_TEST(ran.exit_code == 1);
  const std::string message = run_git("r0", {"log", "-1", "--format=%B", "tofu-modlock/updates"});
  BOOST_TEST(message.find("evil") == std::string::npos, message);
  const std::string summary = read_text(path("summaries/r0.md"));
  const std::string note = summary.substr(summary.find("> not updated: ") + 15);
  BOOST_TEST(note.starts_with("``` module.evil to 1.1.0: \""), note);
  BOOST_TEST(note.ends_with(" ```\n"), note);
  BOOST_TEST(note.find("```", 3) == note.size() - 4, note);
  BOOST_TEST(note.find_first_of("\r\n") == note.size() - 1, note);
  BOOST_TEST(note.find("\u202e") == std::string::npos, note);
  BOOST_TEST(ran.err.find_first_of("\r\x1b") == std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(summaries_are_not_written_into_a_repository) {
  make("r0", {{"main.tf", module_call("vpc", git() + "?ref=v1.0.0")}});
  write_text(path("outside/keep"), "kept\n");
  fs::create_directory_symlink(path("outside"), root() / "r0/summaries");
  const Ran ran = bot({"--summaries", (root() / "r0/summaries").string()});
  BOOST_TEST(ran.exit_code == 2);
  BOOST_TEST(ran.err.find("is in a repository, which could have links there\n") != std::string::npos, ran.err);
  BOOST_TEST(std::distance(fs::directory_iterator(path("outside")), {}) == 1);
  fs::create_directories(path("summaries"));
  fs::create_symlink(path("outside/keep"), path("summaries/r0.md"));
  BOOST_TEST(bot({"--summaries", path("summaries").string()}).exit_code == 0);
  BOOST_TEST(read_text(path("outside/keep")) == "kept\n");
  BOOST_TEST(read_text(path("summaries/r0.md")).starts_with("### `.`\n"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
