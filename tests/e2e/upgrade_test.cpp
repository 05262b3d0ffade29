#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

using Commits = std::map<std::string, std::string>;

// Two modules, one of them with a call of its own.
struct Upgrading : Scene {
  Upgrading() : vpc(repository("vpc.git")), dns(repository("dns.git")), zone(repository("zone.git")) {
    release(zone, "0.1.0");
    release(vpc, "1.0.0");
    release_dns("2.0.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url()) + module_call("dns", "git::" + dns.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + module_rule("dns", ">= 2.0.0, < 3.0.0"));
  }
  void release_dns(const std::string& version) {
    release(dns, version, {{"zone.tf", module_call("zone", "git::" + zone.url(), "~> 0.1")}});
  }
  void release_all_anew() {
    release(zone, "0.2.0");
    release(vpc, "1.1.0");
    release_dns("2.1.0");
  }
  GitRepository& vpc;
  GitRepository& dns;
  GitRepository& zone;
};

BOOST_FIXTURE_TEST_SUITE(upgrade_command, Upgrading)

BOOST_AUTO_TEST_CASE(takes_the_newest_that_every_constraint_allows) {
  modlock({"lock"});
  BOOST_TEST((locked_commits(*this) == Commits{{"dns", "<2.0.0>"}, {"dns.zone", "<0.1.0>"}, {"vpc", "<1.0.0>"}}));
  release_all_anew();
  release(vpc, "2.0.0");  // not allowed
  const Ran ran = modlock({"upgrade"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out.find("module.dns  2.0.0 -> 2.1.0  (>= 2.0.0, < 3.0.0)\n"
                          "module.dns.zone  0.1.0 -> 0.2.0  (~> 0.1)\n"
                          "module.vpc  1.0.0 -> 1.1.0  (~> 1.0)\n") == 0U,
             ran.out);
  BOOST_TEST((locked_commits(*this) == Commits{{"dns", "<2.1.0>"}, {"dns.zone", "<0.2.0>"}, {"vpc", "<1.1.0>"}}));
}

BOOST_AUTO_TEST_CASE(a_target_takes_its_subtree_and_nothing_else) {
  modlock({"lock"});
  release_all_anew();
  BOOST_TEST(modlock({"upgrade", "--target", "module.dns"}).exit_code == 0);
  BOOST_TEST((locked_commits(*this) == Commits{{"dns", "<2.1.0>"}, {"dns.zone", "<0.2.0>"}, {"vpc", "<1.0.0>"}}));
}

BOOST_AUTO_TEST_CASE(a_nested_target_leaves_its_parent) {
  modlock({"lock"});
  release_all_anew();
  BOOST_TEST(modlock({"upgrade", "--target", "module.dns.zone"}).exit_code == 0);
  BOOST_TEST((locked_commits(*this) == Commits{{"dns", "<2.0.0>"}, {"dns.zone", "<0.2.0>"}, {"vpc", "<1.0.0>"}}));
}

BOOST_AUTO_TEST_CASE(an_unknown_target_is_an_error) {
  modlock({"lock"});
  age_lock();
  const Ran ran = modlock({"upgrade", "--target", "module.nope"});
  BOOST_TEST(ran.exit_code == 2);
  BOOST_TEST(ran.err.find("module.nope") != std::string::npos, ran.err);
  BOOST_TEST(lock_is_aged());
}

BOOST_AUTO_TEST_CASE(upgrade_and_install_in_one_go) {
  modlock({"lock", "--install"});
  release_all_anew();
  BOOST_TEST(modlock({"upgrade", "--install"}).exit_code == 0);
  BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("1.1.0") != std::string::npos);
  BOOST_TEST(read(".terraform/modules/dns.zone/main.tf").find("0.2.0") != std::string::npos);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_moved_tag_is_recorded_with_both_commits_and_a_warning) {
  modlock({"lock"});
  const std::string moved = vpc.commit({{"main.tf", "# other\n"}});
  name_id(moved, "moved");
  vpc.tag("v1.0.0");
  const Ran locked = modlock({"lock"});  // no lock without need
  BOOST_TEST(locked.out == "The lock file is up to date.\n");
  const Ran ran = modlock({"upgrade"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out.find("module.vpc  1.0.0  moved from commit <1.0.0...> to commit <moved...>  (~> 1.0)\n") == 0U,
             ran.out);
  BOOST_TEST(ran.err.find(
                 "Warning: the tag of version 1.0.0 of \"git::file://<dir>/repositories/vpc.git\" was moved: from "
                 "commit <1.0.0> to commit <moved> [TAG_MOVED]\n  at main.tf:2:12 (module.vpc)\n") != std::string::npos,
             ran.err);
  BOOST_TEST(locked_commits(*this)["vpc"] == "<moved>");
}

BOOST_AUTO_TEST_CASE(a_moved_branch_is_an_update) {
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=main"));
  write(".tofu-modlock.hcl", "");
  modlock({"lock"});
  BOOST_TEST(locked_commits(*this)["vpc"] == "<1.0.0>");
  release(vpc, "1.1.0");
  modlock({"lock"});
  BOOST_TEST(locked_commits(*this)["vpc"] == "<1.0.0>");
  const Json::Value change = json({"upgrade"})["changes"][0];
  BOOST_TEST(change["action"].asString() == "updated");
  BOOST_TEST(change["from"]["commit"].asString() == "<1.0.0>");
  BOOST_TEST(change["to"]["commit"].asString() == "<1.1.0>");
}

BOOST_AUTO_TEST_CASE(calls_of_one_repository_share_a_version) {
  write("main.tf", module_call("a", "git::" + vpc.url(), "~> 1.0") + module_call("b", "git::" + vpc.url(), "<= 1.1.0"));
  write(".tofu-modlock.hcl", "");
  release(vpc, "1.1.0");
  release(vpc, "1.2.0");
  modlock({"lock"});
  BOOST_TEST((locked_commits(*this) == Commits{{"a", "<1.1.0>"}, {"b", "<1.1.0>"}}));
  BOOST_TEST(modlock({"upgrade", "--resolution", "per-call"}).exit_code == 0);
  BOOST_TEST((locked_commits(*this) == Commits{{"a", "<1.2.0>"}, {"b", "<1.1.0>"}}));
}

BOOST_AUTO_TEST_CASE(a_conflict_names_every_constraint_and_the_way_out) {
  write("main.tf", module_call("a", "git::" + vpc.url(), "~> 1.0") + module_call("b", "git::" + vpc.url(), "~> 2.0"));
  write(".tofu-modlock.hcl", "");
  release(vpc, "2.0.0");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 6);
  for (const char* part : {"[CONSTRAINT_CONFLICT]", "~> 1.0", "~> 2.0", "module \"a\"", "module \"b\"", "main.tf:3",
                           "main.tf:7", "per-call"}) {
    BOOST_TEST(ran.err.find(part) != std::string::npos, part << " is not in " << ran.err);
  }
  BOOST_TEST(!has(".terraform.lock.hcl"));
  BOOST_TEST(modlock({"lock", "--resolution", "per-call"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(no_matching_version_says_what_there_is) {
  for (const char* version : {"1.1.0", "1.2.0", "1.3.0"}) {
    release(vpc, version);
  }
  vpc.tag("nightly");
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 4.0"));
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 6);
  for (const char* part : {"[NO_MATCHING_VERSION]", "~> 4.0", "1.3.0", "1.2.0", "1.1.0", "1 "}) {
    BOOST_TEST(ran.err.find(part) != std::string::npos, part << " is not in " << ran.err);
  }
  BOOST_TEST(ran.err.find("1.0.0") == std::string::npos, ran.err);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
