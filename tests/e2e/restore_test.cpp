// A stock tofu drops module blocks whenever it rewrites the lock file; `lock` puts them back without a request.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "tests/e2e/scene.h"
#include "tests/support/needs.h"
#include "tests/support/run.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRewritten = R"(# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/hashicorp/null" {
  version = "3.2.1"
  hashes = [
    "h1:FbGfc+muBsC17Ohy5g806iuI1hQc4SIexpYCrQHQd8w=",
  ]
}
)";

struct Restoring : Scene {
  Restoring() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
    modlock({"lock"});
    before = lock();
    release(vpc, "1.1.0");
  }
  void git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=Test", "-c", "user.email=test@example.test"});
    run(std::move(arguments), root(), {{"GIT_CONFIG_NOSYSTEM", "1"}, {"HOME", path("home").string()}});
  }
  void commit_everything() const {
    write(".gitignore", ".terraform\n");
    git({"init", "--quiet"});
    git({"add", "."});
    git({"commit", "--quiet", "--message=lock"});
  }
  void check_restored(const Json::Value& result) const {
    BOOST_REQUIRE(result["changes"].size() == 1U);
    BOOST_TEST(result["changes"][0]["action"].asString() == "restored");
    BOOST_TEST(result["stats"]["requests"].asInt() == 0);
    const std::string text = lock();
    BOOST_TEST(text.substr(0, before.size()) == before);
    BOOST_TEST(text.substr(before.size()) ==
               std::string(kRewritten).substr(std::string(kRewritten).find("\nprovider")));
  }
  GitRepository& vpc;
  std::string before;
};

BOOST_FIXTURE_TEST_SUITE(restored_blocks, Restoring)

BOOST_AUTO_TEST_CASE(from_the_copy) {
  write(".terraform.lock.hcl", kRewritten);
  check_restored(json({"lock", "--include", "modules"}));
}

BOOST_AUTO_TEST_CASE(in_words) {
  write(".terraform.lock.hcl", kRewritten);
  const Ran ran = modlock({"lock", "--include", "modules"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out.find("module.vpc  1.0.0  restored  (~> 1.0)\n") == 0U, ran.out);
  BOOST_TEST(ran.out.ends_with("Next: run tofu-modlock install, then tofu init.\n"), ran.out);
}

BOOST_AUTO_TEST_CASE(where_the_whole_file_went) {
  fs::remove(root() / ".terraform.lock.hcl");
  BOOST_TEST(json({"lock", "--include", "modules"})["changes"][0]["action"].asString() == "restored");
  BOOST_TEST(lock() == before);
}

BOOST_AUTO_TEST_CASE(although_the_repository_is_gone) {
  fs::remove_all(vpc.path());
  write(".terraform.lock.hcl", kRewritten);
  check_restored(json({"lock", "--include", "modules"}));
}

BOOST_AUTO_TEST_CASE(from_git_history_when_the_copy_is_gone_too) {
  commit_everything();
  write(".terraform.lock.hcl", kRewritten);
  fs::remove_all(root() / ".terraform");
  check_restored(json({"lock", "--include", "modules"}));
}

BOOST_AUTO_TEST_CASE(from_an_older_commit_where_the_rewritten_file_was_committed) {
  commit_everything();
  write(".terraform.lock.hcl", kRewritten);
  git({"commit", "--quiet", "--all", "--message=rewritten"});
  fs::remove_all(root() / ".terraform");
  check_restored(json({"lock", "--include", "modules"}));
}

// Another clone committed a reviewed version after this one made its copy.
BOOST_AUTO_TEST_CASE(a_version_that_was_committed_later_wins_over_the_copy) {
  commit_everything();
  const std::string copy = read(".terraform/tofu-modlock/lock.hcl");
  modlock({"upgrade", "--include", "modules"});
  before = lock();
  git({"commit", "--quiet", "--all", "--message=reviewed"});
  write(".terraform/tofu-modlock/lock.hcl", copy);
  write(".terraform.lock.hcl", kRewritten);
  check_restored(json({"lock", "--include", "modules"}));
}

BOOST_AUTO_TEST_CASE(a_change_that_is_not_committed_wins_over_the_commit) {
  commit_everything();
  modlock({"upgrade", "--include", "modules"});
  before = lock();
  write(".terraform.lock.hcl", kRewritten);
  check_restored(json({"lock", "--include", "modules"}));
}

// A client dropped the blocks in one branch, and git merged that with a new call of another branch.
BOOST_AUTO_TEST_CASE(entries_that_only_older_commits_have) {
  commit_everything();
  write(".terraform.lock.hcl", kRewritten);
  git({"commit", "--quiet", "--all", "--message=rewritten"});
  fs::remove_all(root() / ".terraform");
  GitRepository& dns = repository("dns.git");
  release(dns, "1.0.0");
  fs::remove(root() / "main.tf");
  write("dns.tf", module_call("dns", "git::" + dns.url() + "?ref=v1.0.0"));
  write(".tofu-modlock.hcl", "");
  modlock({"lock", "--include", "modules"});
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  git({"add", "."});
  git({"commit", "--quiet", "--message=dns"});
  fs::remove_all(root() / ".terraform");
  const Json::Value result = json({"lock", "--include", "modules"});
  BOOST_REQUIRE(result["changes"].size() == 1U);
  BOOST_TEST(result["changes"][0]["subject"].asString() == "module.vpc");
  BOOST_TEST(result["changes"][0]["action"].asString() == "restored");
  BOOST_TEST(result["stats"]["requests"].asInt() == 0);
}

BOOST_AUTO_TEST_CASE(never_under_frozen) {
  write(".terraform.lock.hcl", kRewritten);
  const Json::Value error = json({"lock", "--frozen", "--include", "modules"}, 3)["error"];
  BOOST_TEST(error["data"]["code"].asString() == "FROZEN");
  BOOST_TEST(error["data"]["changes"][0]["subject"].asString() == "module.vpc");
  BOOST_TEST(lock() == kRewritten);
}

// "Removed by a client" and "never locked" need different reactions. The verdicts and codes are the same.
BOOST_AUTO_TEST_CASE(verify_status_and_frozen_distinguish_removed_from_never_locked) {
  constexpr const char* kRestores = ", which restores them, without network access if their packages are in the cache";
  constexpr const char* kKeep = "; to keep them in a file that no client writes, set module_lock_file = \"sidecar\"";
  struct Row {
    const char* name;
    std::function<void()> damage;
    std::string message;  // empty: never locked
    const char* keep;
  };
  const Row rows[] = {
      {"a client rewrote the file", [&] { write(".terraform.lock.hcl", kRewritten); },
       "a client removed the module blocks of .terraform.lock.hcl", kKeep},
      {"the file was deleted", [&] { fs::remove(root() / ".terraform.lock.hcl"); },
       ".terraform.lock.hcl had module blocks, and they were removed", kKeep},
      {"the sidecar was deleted",
       [&] {
         write(".tofu-modlock.hcl", "module_lock_file = \"sidecar\"\n" + module_rule("vpc", "~> 1.0"));
         BOOST_TEST(modlock({"lock"}).exit_code == 0);
         fs::remove(root() / ".terraform.modules.lock.hcl");
       },
       ".terraform.modules.lock.hcl had module blocks, and they were removed", ""},
      {"only history has the blocks",
       [&] {
         write(".terraform.lock.hcl", before);
         write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
         fs::remove(root() / ".terraform.modules.lock.hcl");
         commit_everything();
         write(".terraform.lock.hcl", kRewritten);
         git({"commit", "--quiet", "--all", "--message=rewritten"});
         fs::remove_all(root() / ".terraform");
       },
       "a client removed the module blocks of .terraform.lock.hcl", kKeep},
      {"never locked",
       [&] {
         fs::remove_all(root() / ".terraform");
         fs::remove_all(root() / ".git");
       },
       "", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      row.damage();
      const std::string advice = std::string("run: tofu-modlock lock") + kRestores + row.keep;
      const bool is_removed = !row.message.empty();
      for (const char* command : {"verify", "status"}) {
        const Json::Value result = json({command, "--include", "modules", "--offline"}, 3);
        const Json::Value& verify = result.isMember("verify") ? result["verify"] : result;
        BOOST_TEST(verify["verdicts"][0]["verdict"].asString() == "not-locked");
        BOOST_TEST(verify["verdicts"][0]["detail"].asString() ==
                   (is_removed ? "the lock file has no entry for this call; lock restores it"
                               : "the lock file has no entry for this call"));
        BOOST_TEST(verify["diagnostics"].size() == (is_removed ? 1U : 0U));
        if (is_removed) {
          BOOST_TEST(verify["diagnostics"][0]["code"].asString() == "LOCK_INCOMPLETE");
          BOOST_TEST(verify["diagnostics"][0]["message"].asString() == row.message);
          BOOST_TEST(verify["diagnostics"][0]["hint"].asString() == advice);
        }
      }
      for (const std::vector<std::string>& command : {std::vector<std::string>{"lock", "--frozen"}, {"install"}}) {
        Json::Value error = json(command, 3)["error"];
        BOOST_TEST(error["data"]["code"].asString() == "FROZEN");
        BOOST_TEST(error["data"]["changes"][0]["reason"].asString() == "not locked");
        BOOST_TEST(error["data"]["notes"].size() == (is_removed ? 1U : 0U));
        if (is_removed) {
          BOOST_TEST(error["data"]["notes"][0].asString() == row.message + "; " + advice);
        }
      }
      for (const std::vector<std::string>& command :
           {std::vector<std::string>{"bundle", "create", "--output", path("bundle").string()},
            {"mirror", "--", "true"}}) {
        const Ran ran = modlock(command);
        BOOST_TEST(ran.exit_code == 3);
        BOOST_TEST(
            (ran.err.find("  note: " + row.message + "; run: tofu-modlock lock") != std::string::npos) == is_removed,
            ran.err);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(not_where_the_constraint_changed_since) {
  write(".terraform.lock.hcl", kRewritten);
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.1"));
  BOOST_TEST(json({"lock", "--include", "modules"})["changes"][0]["action"].asString() == "added");
  BOOST_TEST(locked_commits(*this)["vpc"] == "<1.1.0>");
}

// The file was rewritten in the last commit, and the clone has no other.
struct ShallowClone : Restoring {
  ShallowClone() {
    commit_everything();
    write(".terraform.lock.hcl", kRewritten);
    git({"commit", "--quiet", "--all", "--message=rewritten"});
    fs::rename(root(), path("origin"));
    program_in_parent({"git", "clone", "--quiet", "--depth=1", "file://" + path("origin").string(), "root"});
  }
  void program_in_parent(std::vector<std::string> argv) const { run(std::move(argv), path("."), environment); }
};

BOOST_FIXTURE_TEST_CASE(a_shallow_clone_is_named_when_versions_are_chosen_again, ShallowClone) {
  const Ran ran = modlock({"lock", "--include", "modules"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(
      ran.err.find("Warning: .terraform.lock.hcl has no module blocks, and blocks that were dropped from it cannot be "
                   "restored: the repository is a shallow clone [LOCK_INCOMPLETE]") != std::string::npos,
      ran.err);
  BOOST_TEST(ran.err.find("git fetch --unshallow") != std::string::npos, ran.err);
  BOOST_TEST(locked_commits(*this)["vpc"] == "<1.1.0>");
  const Ran again = modlock({"lock", "--include", "modules"});
  BOOST_TEST(again.err == "");
}

BOOST_FIXTURE_TEST_CASE(a_shallow_clone_is_frozen_in_ci, ShallowClone) {
  environment["CI"] = "true";
  const Json::Value error = json({"lock", "--include", "modules"}, 3)["error"];
  BOOST_TEST(error["data"]["code"].asString() == "FROZEN");
  BOOST_TEST(error["message"].asString() ==
             ".terraform.lock.hcl has no module blocks, and blocks that were dropped from it cannot be restored: the "
             "repository is a shallow clone");
  BOOST_TEST(error["data"]["changes"][0]["subject"].asString() == "module.vpc");
  BOOST_TEST(lock() == kRewritten);
  BOOST_TEST(modlock({"update", "module.vpc=1.1.0", "--include", "modules"}).exit_code == 3);
  BOOST_TEST(modlock({"upgrade", "--target", "module.vpc", "--include", "modules"}).exit_code == 3);
  BOOST_TEST(lock() == kRewritten);
  git({"fetch", "--quiet", "--unshallow"});
  check_restored(json({"lock", "--include", "modules"}));
}

BOOST_FIXTURE_TEST_CASE(a_shallow_clone_with_module_blocks_is_as_good_as_any, ShallowClone) {
  environment["CI"] = "true";
  write(".terraform.lock.hcl", before);
  const Ran ran = modlock({"lock", "--include", "modules"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err == "");
}

// The checkout of a container job: a client rewrote the file, and git may not read the commit that has the blocks.
struct UnreadHistory : Restoring {
  UnreadHistory() {
    commit_everything();
    write(".terraform.lock.hcl", kRewritten);
    fs::remove_all(root() / ".terraform");
  }
  void check(const std::string& why, const std::string& hint) {
    environment["CI"] = "true";
    const Json::Value error = json({"lock", "--include", "modules"}, 3)["error"];
    environment.erase("CI");
    BOOST_TEST(error["data"]["code"].asString() == "FROZEN");
    BOOST_TEST(error["message"].asString() ==
               ".terraform.lock.hcl has no module blocks, and blocks that were dropped from it cannot be restored: " +
                   why);
    BOOST_TEST(error["data"]["hint"].asString() == hint + ", then lock again; the reviewed versions are then kept");
    BOOST_TEST(lock() == kRewritten);
  }
};

BOOST_FIXTURE_TEST_CASE(a_repository_of_another_user_is_like_a_shallow_clone, UnreadHistory, *needs("root")) {
  run({"chown", "-R", "nobody", root().string()}, root());
  const std::string why = "the repository belongs to another user, so git does not read it";
  const std::string command = "git config --global --add safe.directory ";
  check(why, "run: " + command + "<dir>/root");
  const Ran diff = modlock({"diff", "--lock-rev", "HEAD"});
  BOOST_TEST(diff.err.find(why) != std::string::npos, diff.err);
  BOOST_TEST(diff.err.find(command) != std::string::npos, diff.err);
  const Ran doctor = modlock({"doctor"});
  BOOST_TEST(doctor.out.find(why) != std::string::npos, doctor.out);
  BOOST_TEST(program({"sh", "-c", command + root().string()}).exit_code == 0);
  check_restored(json({"lock", "--include", "modules"}));
}

BOOST_FIXTURE_TEST_CASE(a_version_that_git_cannot_read_is_like_a_shallow_clone, UnreadHistory) {
  git({"commit", "--quiet", "--all", "--message=rewritten"});
  struct Row {
    const char* name;
    std::function<void(const fs::path& clone)> begin;
    const char* why;
  };
  const fs::path origin = path("origin");
  fs::rename(root(), origin);
  const auto clone = [&](const fs::path& to, const std::string& option) {
    run({"git", "clone", "--quiet", option, "file://" + origin.string(), to.string()}, path("."), environment);
  };
  run({"git", "config", "uploadpack.allowFilter", "true"}, origin, environment);
  for (const Row& row : {
           Row{"a partial clone", [&](const fs::path& to) { clone(to, "--filter=blob:none"); },
               "the clone is partial and lacks files"},
           Row{"objects of a clone that is gone",
               [&](const fs::path& to) {
                 clone(path("reference"), "--no-tags");
                 clone(to, "--reference=" + path("reference").string());
                 fs::remove_all(path("reference"));
               },
               "git cannot read the repository: "},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(root());
      row.begin(root());
      environment["CI"] = "true";
      const Json::Value error = json({"lock", "--include", "modules"}, 3)["error"];
      environment.erase("CI");
      BOOST_TEST(error["message"].asString().find(row.why) != std::string::npos, error["message"].asString());
    }
  }
}

BOOST_FIXTURE_TEST_CASE(blocks_are_found_behind_many_versions, UnreadHistory) {
  for (int i = 0; i < 25; ++i) {
    write(".terraform.lock.hcl", std::string(kRewritten) + "# " + std::to_string(i) + "\n");
    git({"commit", "--quiet", "--all", "--message=providers"});
  }
  write(".terraform.lock.hcl", kRewritten);
  git({"commit", "--quiet", "--all", "--message=last"});
  check_restored(json({"lock", "--include", "modules"}));
}

BOOST_FIXTURE_TEST_CASE(blocks_are_found_on_the_side_that_a_merge_did_not_take, Restoring) {
  write(".terraform.lock.hcl", kRewritten);
  commit_everything();
  git({"checkout", "--quiet", "-b", "side"});
  write(".terraform.lock.hcl", before);
  git({"commit", "--quiet", "--all", "--message=locked"});
  git({"checkout", "--quiet", "-"});
  git({"merge", "--quiet", "--strategy=ours", "--message=merge", "side"});
  fs::remove_all(root() / ".terraform");
  check_restored(json({"lock", "--include", "modules"}));
}

BOOST_FIXTURE_TEST_CASE(without_git_the_history_is_unread, UnreadHistory) {
  environment["PATH"] = path("empty").string();
  check("git is not installed", "install git");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
