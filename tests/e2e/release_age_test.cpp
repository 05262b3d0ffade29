// minimum_release_age, from outside: what was first seen is kept beside the cache.

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <regex>

#include "tests/e2e/scene.h"
#include "tests/support/docker_registry.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRule = "source \"*\" {\n  minimum_release_age = \"72h\"\n}\n";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(release_age, Scene)

BOOST_AUTO_TEST_CASE(a_malformed_variable_stops_only_commands_that_use_it) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  environment["TOFU_MODLOCK_MINIMUM_RELEASE_AGE"] = "3 days";
  struct Row {
    std::vector<std::string> command;
    bool uses_it;
  };
  for (const Row& row : {
           Row{{"install"}, false},
           Row{{"ci"}, false},
           Row{{"verify"}, false},
           Row{{"verify", "--online"}, false},
           Row{{"inspect"}, false},
           Row{{"graph"}, false},
           Row{{"sbom"}, false},
           Row{{"bundle", "create", "--output", path("modules.tar").string()}, false},
           Row{{"mirror", "--", "true"}, false},
           Row{{"lock"}, true},
           Row{{"upgrade"}, true},
           Row{{"update", "vpc"}, true},
           Row{{"outdated"}, true},
           Row{{"status"}, true},
           Row{{"explain", "module.vpc"}, true},
           Row{{"ci", "--age"}, true},
           Row{{"verify", "--age"}, true},
       }) {
    BOOST_TEST_CONTEXT(row.command[0]) {
      const Ran ran = modlock(row.command);
      BOOST_TEST(ran.exit_code == (row.uses_it ? 2 : 0), ran.err);
      BOOST_TEST((ran.err.find("the minimum release age must be a duration, found \"3 days\"") != std::string::npos) ==
                 row.uses_it);
    }
  }
}

// The publisher chooses the date of a commit, so it can only lengthen the wait.
BOOST_AUTO_TEST_CASE(the_date_of_a_commit_lengthens_the_wait) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  const auto hours_ago = [](int hours) {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return std::to_string((now - std::chrono::hours(hours)).time_since_epoch().count()) + " +0000";
  };
  struct Row {
    const char* name;
    std::string date;  // of the commit of 1.1.0
    const char* locked;
    const char* none;       // the error if only 1.1.0 matches; empty: it is locked
    const char* exception;  // the warning if the configuration names 1.1.0
  };
  for (const Row& row : {
           Row{"old", hours_ago(100), "<1.1.0>", "", ""},
           Row{"newer than the age", hours_ago(1), "<1.0.0>", "(3d): 1.1.0 was first seen at 20",
               "its publisher dates it to 20"},
           Row{"in the future", hours_ago(-1000), "<1.0.0>", "(3d): 1.1.0 claims a date in the future: 20",
               "its publisher claims a date in the future, 20"},
           Row{"in the far future", "99999999999 +0000", "<1.0.0>",
               "(3d): 1.1.0 claims a date in the future: 2200-01-01T00:00:00Z",
               "its publisher claims a date in the future, 2200-01-01T00:00:00Z"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(cache());
      const std::string commit =
          vpc.git({"hash-object", "-t", "commit", "-w", "--stdin"},
                  "tree " + vpc.id("v1.0.0^{tree}") + "\nparent " + vpc.id("v1.0.0") + "\nauthor a <a@b.test> " +
                      row.date + "\ncommitter a <a@b.test> " + row.date + "\n\n" + row.name + "\n");
      vpc.git({"tag", "--force", "v1.1.0", commit});
      vpc.branch("main", commit);
      name_id(commit, "1.1.0");
      write("main.tf", module_call("vpc", "git::" + vpc.url()));
      const auto lock_with = [&](const std::string& constraint) {
        fs::remove(root() / ".terraform.lock.hcl");
        write(".tofu-modlock.hcl", module_rule("vpc", constraint) + kRule);
        return modlock({"lock"});
      };
      lock_with("~> 1.0");  // lists the versions
      let_pass(73);
      const Ran ran = lock_with("~> 1.0");
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(locked_commits(*this)["vpc"] == row.locked);
      const Ran none = lock_with("~> 1.1");
      BOOST_TEST(none.exit_code == (*row.none == 0 ? 0 : 6));
      BOOST_TEST(none.err.find(row.none) != std::string::npos, none.err);
      const Ran named = lock_with("= 1.1.0");
      BOOST_TEST(named.exit_code == 0, named.err);
      BOOST_TEST((named.err.find("[SETTING_UNSERVED]") != std::string::npos) == (*row.exception != 0), named.err);
      BOOST_TEST(named.err.find(row.exception) != std::string::npos, named.err);
      const std::string explained = modlock({"explain", "module.vpc"}).out;
      BOOST_TEST(explained.find("\n  claimed     2") != std::string::npos, explained);
      BOOST_TEST(explained.find(row.exception) != std::string::npos, explained);
    }
  }
}

BOOST_AUTO_TEST_CASE(young_version_of_a_git_repository_waits) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + kRule);
  const Ran unknown = modlock({"lock"});
  BOOST_TEST(unknown.exit_code == 6, unknown.err);
  BOOST_TEST(
      unknown.err.find("are newer than minimum_release_age (3d): 1.0.0 was first seen at 20") != std::string::npos,
      unknown.err);
  BOOST_TEST(unknown.err.find("--minimum-release-age 0s") != std::string::npos, unknown.err);
  let_pass(73);
  release(vpc, "1.1.0");
  BOOST_TEST(modlock({"lock"}).out.find("module.vpc  1.0.0") == 0U);
  let_pass(71);
  BOOST_TEST(modlock({"upgrade"}).out == "The lock file is up to date.\n");
  BOOST_TEST(modlock({"update", "--list"}).out == "module.vpc  1.0.0  (~> 1.0)  newest\n");
  BOOST_TEST(modlock({"update", "module.vpc"}).err ==
             "Info: module.vpc 1.0.0 is the newest version [NO_MATCHING_VERSION]\n");
  let_pass(1);
  BOOST_TEST(modlock({"update", "--list"}).out ==
             "module.vpc  1.0.0  (~> 1.0)  -> 1.1.0 (lock only, minor)\n"
             "To select one, run: tofu-modlock update SUBJECT=VERSION\n");
  BOOST_TEST(modlock({"upgrade"}).out.find("module.vpc  1.0.0 -> 1.1.0") == 0U);
}

BOOST_AUTO_TEST_CASE(exception_is_named_in_the_plan) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + kRule);
  const Json::Value result = json({"lock", "--minimum-release-age", "0s"});
  const std::string reason = result["changes"][0]["reason"].asString();
  BOOST_TEST(reason.find("not locked before; an exception from minimum_release_age: first seen at 20") == 0U, reason);
  BOOST_TEST(reason.find("; the minimum release age is 3d, but it was requested") != std::string::npos, reason);
  BOOST_TEST(result["diagnostics"][0]["code"].asString() == "SETTING_UNSERVED");
  BOOST_TEST(result["diagnostics"][0]["location"]["path"].asString() == ".tofu-modlock.hcl");
  const Ran ran = modlock({"explain", "module.vpc"});
  BOOST_TEST(ran.out.find("allow it; an exception from minimum_release_age: first seen at 20") != std::string::npos,
             ran.out);
  BOOST_TEST(ran.out.find("; the minimum release age is 3d, but a locked version stays\n") != std::string::npos,
             ran.out);
  let_pass(73);
  BOOST_TEST(modlock({"explain", "module.vpc"}).out.find("exception") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(age_that_is_no_duration_is_refused) {
  write("main.tf", "");
  const Ran ran = modlock({"lock", "--minimum-release-age", "3 days"});
  BOOST_TEST(ran.exit_code == 2);
  BOOST_TEST(ran.err.find("the minimum release age must be a duration, found \"3 days\"") != std::string::npos,
             ran.err);
}

BOOST_AUTO_TEST_CASE(verify_names_what_is_too_new) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url()) + module_call("main", "git::" + vpc.url() + "?ref=main") +
                       module_call("tag", "git::" + vpc.url() + "?ref=v1.0.0"));
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  const Ran unset = modlock({"verify", "--age"});
  BOOST_TEST(unset.exit_code == 2);
  BOOST_TEST(unset.err.find("the settings have no minimum_release_age to compare with") != std::string::npos,
             unset.err);
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + kRule);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  const Json::Value result = json({"verify", "--age"}, 3);
  BOOST_TEST(result["ok"].asBool() == false);
  BOOST_REQUIRE(result["verdicts"].size() == 3U);
  for (const Json::Value& verdict : result["verdicts"]) {
    BOOST_TEST(verdict["verdict"].asString() == "too-new");
    const std::string detail = verdict["detail"].asString();
    BOOST_TEST(std::regex_match(detail, std::regex("first seen at 20[0-9TZ:-]+; the minimum release age is 3d, until "
                                                   "20[0-9TZ:-]+")),
               detail);
  }
  const Ran young = modlock({"ci", "--age"});
  BOOST_TEST(young.exit_code == 3);
  BOOST_TEST(young.err.find(".     too-new  review the release, or wait\n") != std::string::npos, young.err);
  BOOST_TEST(young.err.find("module.vpc: first seen at 20") != std::string::npos, young.out + young.err);
  let_pass(73);
  for (const char* command : {"verify", "ci"}) {
    const Ran old = modlock({command, "--age"});
    BOOST_TEST(old.exit_code == 0, old.out + old.err);
  }
  fs::remove_all(cache());
  BOOST_TEST(modlock({"verify", "--age"}).exit_code == 3, "in a new cache nothing is known");
  BOOST_TEST(modlock({"verify", "--age", "--offline"}).exit_code == 2);
}

// The check itself records content that no listing has, and a later tag does not make known content new.
BOOST_AUTO_TEST_CASE(verify_records_a_commit_without_a_tag) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  const std::string commit = vpc.commit({{"main.tf", "# later\n"}}, "main");
  write("main.tf", module_call("main", "git::" + vpc.url() + "?ref=main") +
                       module_call("commit", "git::" + vpc.url() + "?ref=" + commit));
  write(".tofu-modlock.hcl", kRule);
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  fs::remove_all(cache() / "v2/seen");
  BOOST_TEST(modlock({"verify", "--age"}).exit_code == 3);
  let_pass(73);
  const Ran old = modlock({"verify", "--age"});
  BOOST_TEST(old.exit_code == 0, old.out + old.err);
  vpc.git({"tag", "v1.1.0", commit});
  const Ran tagged = modlock({"verify", "--age"});
  BOOST_TEST(tagged.exit_code == 0, tagged.out + tagged.err);
}

// Its author may know the commit of a release before it is published.
BOOST_AUTO_TEST_CASE(a_lock_file_starts_no_age) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  release(vpc, "1.1.0");
  const std::string commit = vpc.id("v1.1.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + kRule);
  BOOST_TEST(modlock({"lock", "--minimum-release-age", "0s"}).exit_code == 0);
  vpc.git({"tag", "--delete", "v1.1.0"});
  fs::remove_all(cache());
  BOOST_TEST(modlock({"verify", "--age"}).out.starts_with("too-new "));
  let_pass(73);
  vpc.git({"tag", "v1.1.0", commit});
  BOOST_TEST(modlock({"verify", "--age"}).out.starts_with("too-new "));
}

BOOST_AUTO_TEST_CASE(first_sights_outlive_the_cache) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  let_pass(73);
  BOOST_TEST(modlock({"cache", "prune", "--max-age", "0s", "--max-bytes", "0"}).exit_code == 0);
  fs::remove(root() / ".terraform.lock.hcl");
  fs::remove_all(root() / ".terraform");
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + kRule);
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(young_version_of_an_oci_registry_waits, *needs(DockerRegistry::kPrograms)) {
  DockerRegistry oci;
  environment["SSL_CERT_FILE"] = oci.authority().string();
  oci.push("acme/dns", "v1.0.0", {{"main.tf", "# 1.0.0\n"}});
  write("main.tf", module_call("dns", oci.source("acme/dns")));
  write(".tofu-modlock.hcl", module_rule("dns", "~> 1.0") + kRule);
  BOOST_TEST(modlock({"lock"}).exit_code == 6);
  let_pass(73);
  oci.push("acme/dns", "v1.1.0", {{"main.tf", "# 1.1.0\n"}});
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.out.find("module.dns  1.0.0") == 0U, ran.out + ran.err);
  write("main.tf",
        module_call("dns", oci.source("acme/dns")) + module_call("tagged", oci.source("acme/dns") + "?tag=v1.1.0"));
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  const Json::Value verdicts = json({"verify", "--age"}, 3)["verdicts"];
  BOOST_TEST(verdicts[0]["verdict"].asString() == "held");
  BOOST_TEST(verdicts[1]["verdict"].asString() == "too-new");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
