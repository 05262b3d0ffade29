// Every form of a git source, and trees of them.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
struct Sources : Scene {
  Sources() : vpc(repository("vpc.git")) {
    first = release(vpc, "1.0.0");
    second = release(vpc, "1.1.0");
  }
  std::string source(const std::string& suffix = {}) const { return "git::" + vpc.url() + suffix; }
  std::string block() const {
    const std::string text = shown(lock());
    const std::size_t start = text.find("module \"");
    return start == std::string::npos ? text : text.substr(start);
  }
  GitRepository& vpc;
  std::string first;
  std::string second;
};

BOOST_FIXTURE_TEST_SUITE(sources, Sources)

BOOST_AUTO_TEST_CASE(each_way_to_name_a_version) {
  struct Row {
    const char* name;
    std::string suffix;
    std::string version;  // the argument
    std::string commit;
    std::string locked_source;  // after the repository
    std::string attributes;     // version and constraints, as in the lock file
  };
  for (const Row& row :
       {Row{"constraint", "", "1.0.0", "<1.0.0>", "", "  version = \"1.0.0\"\n|  constraints = \"1.0.0\"\n\n"},
        Row{"nothing: the default branch", "", "", "<1.1.0>", "", "|"},
        Row{"a tag as ref", "?ref=v1.0.0", "", "<1.0.0>", "?ref=v1.0.0", "|"},
        Row{"a branch as ref", "?ref=main", "", "<1.1.0>", "?ref=main", "|"},
        Row{"a full SHA as ref", "?ref=" + first, "", "<1.0.0>", "?ref=<1.0.0>", "|"},
        Row{"a full SHA as version", "", first, "<1.0.0>", "", "|  constraints = \"<1.0.0>\"\n\n"},
        Row{"a subdirectory", "//modules/a?ref=v1.0.0", "", "<1.0.0>", "//modules/a?ref=v1.0.0", "|"},
        Row{"depth is not part of the identity", "?ref=v1.0.0&depth=1", "", "<1.0.0>", "?ref=v1.0.0", "|"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      if (row.suffix.starts_with("//")) {
        vpc.git({"tag", "--force", "v1.0.0", vpc.commit({{"modules/a/main.tf", "# a\n"}}, "other")});
        name_text(vpc.id("v1.0.0"), "<1.0.0>");
      }
      fs::remove(root() / ".terraform.lock.hcl");
      fs::remove_all(root() / ".terraform");
      write("main.tf", module_call("vpc", source(row.suffix), row.version));
      const Ran ran = modlock({"lock"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      const std::size_t bar = row.attributes.find('|');
      const std::string text = block();
      const std::string name = row.attributes.front() == '|' ? "  source = \"" : "  source  = \"";
      BOOST_TEST(text.substr(0, text.find("    \"h1:")) ==
                 "module \"vpc\" {\n" + row.attributes.substr(0, bar) + name +
                     "git::file://<dir>/repositories/vpc.git" + row.locked_source + "\"\n\n" +
                     row.attributes.substr(bar + 1) + "  hashes = [\n    \"git:" + row.commit + "\",\n");
      BOOST_TEST(modlock({"install"}).exit_code == 0);
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_commit_that_no_branch_or_tag_holds_is_not_locked) {
  const std::string tree = vpc.git({"rev-parse", "main^{tree}"});
  const std::string foreign = vpc.commit_tree(tree, first);
  vpc.configure("uploadpack.allowAnySHA1InWant", "true");
  write("main.tf", module_call("vpc", source("?ref=" + foreign)));
  BOOST_TEST(modlock({"lock"}).exit_code == 4);
  BOOST_TEST(!has(".terraform.lock.hcl"));
}

BOOST_AUTO_TEST_CASE(a_tree_of_three_levels_with_local_modules_in_packages) {
  GitRepository& leaf = repository("leaf.git");
  release(leaf, "0.1.0");
  GitRepository& middle = repository("middle.git");
  const std::string middle_commit = middle.commit(
      {{"modules/zone/main.tf", module_call("peer", "../peer") + module_call("leaf", "git::" + leaf.url(), "~> 0.1")},
       {"modules/peer/main.tf", module_call("deep", "git::" + leaf.url() + "?ref=v0.1.0")}});
  middle.tag("v2.0.0");
  name_id(middle_commit, "2.0.0");
  write("main.tf", module_call("net", "./net"));
  write("net/main.tf", module_call("zone", "git::" + middle.url() + "//modules/zone"));
  write(".tofu-modlock.hcl", module_rule("net.zone", "~> 2.0"));

  const Ran ran = modlock({"lock", "--install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST((locked_commits(*this) ==
              Commits{{"net.zone", "<2.0.0>"}, {"net.zone.leaf", "<0.1.0>"}, {"net.zone.peer.deep", "<0.1.0>"}}));
  BOOST_TEST(shown(read(".terraform/modules/modules.json")) ==
             R"({"Modules":[{"Key":"","Source":"","Dir":"."},)"
             R"({"Key":"net","Source":"./net","Dir":"net"},)"
             R"({"Key":"net.zone","Source":"git::file://<dir>/repositories/middle.git//modules/zone",)"
             R"("Dir":".terraform/modules/net.zone/modules/zone"},)"
             R"({"Key":"net.zone.leaf","Source":"git::file://<dir>/repositories/leaf.git",)"
             R"("Dir":".terraform/modules/net.zone.leaf"},)"
             R"({"Key":"net.zone.peer","Source":"../peer","Dir":".terraform/modules/net.zone/modules/peer"},)"
             R"({"Key":"net.zone.peer.deep","Source":"git::file://<dir>/repositories/leaf.git?ref=v0.1.0",)"
             R"("Dir":".terraform/modules/net.zone.peer.deep"}]})");
  BOOST_TEST(modlock({"verify"}).out.find("\n3 verified\n") != std::string::npos);
  age_lock();
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(lock_is_aged());
}

BOOST_AUTO_TEST_CASE(tags_of_a_monorepo) {
  GitRepository& mono = repository("mono.git");
  const std::string net = mono.commit({{"net/main.tf", "# net\n"}});
  mono.tag("net/v1.2.5");
  name_id(net, "net 1.2.5");
  mono.commit({{"dns/main.tf", "# dns\n"}, {"net/main.tf", "# net 2\n"}});
  mono.tag("dns/v1.9.0");
  mono.tag("v1.3.0");
  write("main.tf", module_call("net", "git::" + mono.url() + "//net"));
  write(".tofu-modlock.hcl", "module \"net\" {\n  version    = \"~> 1.2\"\n  tag_prefix = \"net/\"\n}\n");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST((locked_commits(*this) == Commits{{"net", "<net 1.2.5>"}}));
  BOOST_TEST(block().find("version = \"1.2.5\"\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(annotated_tags_lock_their_commit) {
  vpc.annotated_tag("v1.2.0", first);
  write("main.tf", module_call("vpc", source(), "1.2.0"));
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  BOOST_TEST((locked_commits(*this) == Commits{{"vpc", "<1.0.0>"}}));
}

BOOST_AUTO_TEST_CASE(a_prerelease_is_taken_only_when_named) {
  release(vpc, "2.0.0-beta.1");
  write("main.tf", module_call("vpc", source(), ">= 1.0.0"));
  modlock({"lock"});
  BOOST_TEST((locked_commits(*this) == Commits{{"vpc", "<1.1.0>"}}));
  write("main.tf", module_call("vpc", source(), "2.0.0-beta.1"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST((locked_commits(*this) == Commits{{"vpc", "<2.0.0-beta.1>"}}));
}

BOOST_AUTO_TEST_CASE(a_kind_that_nobody_serves_is_left_as_it_lies) {
  write("main.tf",
        module_call("vpc", source("?ref=v1.0.0")) + module_call("bucket", "hg::https://hg.example.test/net"));
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.err.find("[SOURCE_UNSUPPORTED]") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("hg::https://hg.example.test/net") != std::string::npos, ran.err);
  BOOST_TEST((locked_commits(*this) == Commits{{"vpc", "<1.0.0>"}}));
}

// git-remote-codecommit is a program that git runs.
BOOST_AUTO_TEST_CASE(codecommit_is_served_only_if_the_user_allows_its_helper) {
  const fs::path log = path("helper.log");
  write_text(path("bin/git-remote-codecommit"), "#!/bin/sh\necho \"$2\" >> '" + log.string() +
                                                    "'\nexec git remote-ext \"$1\" 'git %s " +
                                                    (repositories() / "vpc.git").string() + "'\n");
  fs::permissions(path("bin/git-remote-codecommit"), fs::perms::owner_all);
  environment["PATH"] = path("bin").string() + ":" + std::getenv("PATH");
  GitRepository& calling = repository("calling.git");
  release(calling, "1.0.0", {{"calls.tf", module_call("inner", "git::codecommit://vpc?ref=v1.0.0")}});
  const std::string region = "git::codecommit::eu-west-1://team@vpc?ref=v1.0.0";
  const std::string by_package = "git::" + calling.url() + "?ref=v1.0.0";
  struct Row {
    const char* name;
    const char* settings;  // of the user
    std::string source;
    Commits locked;
    std::string asked;  // of the helper, each time
  };
  for (const Row& row : {
           Row{"not allowed", "", "git::codecommit://vpc?ref=v1.0.0", {}, ""},
           Row{"allowed",
               "git_helpers = [\"codecommit\"]\n",
               "git::codecommit://vpc?ref=v1.0.0",
               {{"a", "<1.0.0>"}},
               "codecommit://vpc\n"},
           Row{"with a region and a profile",
               "git_helpers = [\"codecommit\"]\n",
               region,
               {{"a", "<1.0.0>"}},
               "eu-west-1://team@vpc\n"},
           Row{"with a subdirectory",
               "git_helpers = [\"codecommit\"]\n",
               "git::codecommit://vpc//.?ref=main",
               {{"a", "<1.1.0>"}},
               "codecommit://vpc\n"},
           Row{"named by a package", "git_helpers = [\"codecommit\"]\n", by_package, {{"a", "<1.0.0>"}}, ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(path("home/.config/tofu-modlock/config.hcl"), row.settings);
      for (const fs::path& old : {log, root() / ".terraform.lock.hcl", root() / ".terraform", cache()}) {
        fs::remove_all(old);
      }
      write("main.tf", module_call("a", row.source));
      const Ran ran = modlock({"lock"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST((ran.err.find("git::codecommit sources are not supported") == std::string::npos) == !row.asked.empty(),
                 ran.err);
      BOOST_TEST(((has(".terraform.lock.hcl") ? locked_commits(*this) : Commits()) == row.locked));
      BOOST_TEST(fs::exists(log) == !row.asked.empty());
      if (!row.asked.empty()) {
        BOOST_TEST(read_text(log).starts_with(row.asked), read_text(log));
        BOOST_TEST(modlock({"install"}).exit_code == 0);
        BOOST_TEST(modlock({"verify", "--online"}).exit_code == 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(one_repository_is_asked_once_a_run) {
  std::string calls;
  for (int i = 0; i < 5; ++i) {
    calls += module_call("m" + std::to_string(i), source(), "~> 1.0");
  }
  write("main.tf", calls);
  // One listing and one fetch.
  BOOST_TEST(json({"lock"})["stats"]["requests"].asInt() == 2);
  BOOST_TEST(json({"lock"})["stats"]["requests"].asInt() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
