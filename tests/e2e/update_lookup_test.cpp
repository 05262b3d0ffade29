// What is newer than what is in use, in Renovate's words.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {
namespace {

struct Looking : Scene {
  Looking() : vpc(repository("vpc.git")) {
    for (const char* version : {"1.0.0", "1.0.1", "1.1.0", "2.0.0", "2.1.0", "3.0.0-rc1"}) {
      release(vpc, version);
    }
    write_text(path("tofurc"), registry.host_block("registry.opentofu.org"));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
  }

  std::string git() const { return "git::" + vpc.url(); }

  // "module.a 1.0.0 locked 1.0.0: 1.1.0 minor lock, 2.1.0 major ~> 2.1"
  std::vector<std::string> lines(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {"update", "--list"});
    std::vector<std::string> out;
    const Json::Value found = json(arguments);
    for (const Json::Value& dependency : found["dependencies"]) {
      std::string line =
          fmt::format("{} {} {}{}", dependency["subject"].asString(), dependency["currentValue"].asString(),
                      dependency["currentVersion"].asString(),
                      dependency.isMember("skipReason") ? " " + dependency["skipReason"].asString() : "");
      for (const Json::Value& update : dependency["updates"]) {
        line += fmt::format("; {} {} {}{}", update["newVersion"].asString(), update["updateType"].asString(),
                            update["newValue"].asString(), update["isLockfileUpdate"].asBool() ? " lock" : "");
      }
      out.push_back(line);
    }
    return out;
  }

  ProviderRegistry registry;
  GitRepository& vpc;
};

BOOST_FIXTURE_TEST_SUITE(update_lookup, Looking)

// Tags of one version at different commits: that which is written as the current one is meant.
BOOST_AUTO_TEST_CASE(several_tags_of_one_version) {
  struct Row {
    const char* name;
    std::vector<const char*> tags;
    const char* ref;
    const char* listed;
    std::vector<std::pair<const char*, const char*>> updates;  // an update, and the reference afterwards
  };
  for (const Row& row : {
           Row{"with v",
               {"v1.0.0", "v1.1.0", "1.1.0"},
               "v1.0.0",
               "v1.0.0 1.0.0; 1.1.0 minor v1.1.0",
               {{"m", "v1.1.0"}, {"m=1.1.0", "v1.1.0"}, {"m=v1.1.0", "v1.1.0"}}},
           Row{"without v",
               {"1.0.0", "v1.1.0", "1.1.0"},
               "1.0.0",
               "1.0.0 1.0.0; 1.1.0 minor 1.1.0",
               {{"m", "1.1.0"}, {"m=v1.1.0", "v1.1.0"}}},
           Row{"with a prefix",
               {"net/v1.0.0", "net/v1.1.0", "net/1.1.0"},
               "net/v1.0.0",
               "net/v1.0.0 1.0.0; 1.1.0 minor net/v1.1.0",
               {{"m", "net/v1.1.0"}, {"m=net/1.1.0", "net/1.1.0"}, {"m=other/v1.1.0", "net/v1.0.0"}}},
           Row{"builds",
               {"v1.0.0", "v1.1.0+a", "v1.1.0+b"},
               "v1.0.0",
               "v1.0.0 1.0.0",
               {{"m", "v1.0.0"}, {"m=1.1.0", "v1.0.0"}, {"m=v1.1.0+b", "v1.1.0%2Bb"}}},
           Row{"one tag", {"v1.0.0", "1.1.0"}, "v1.0.0", "v1.0.0 1.0.0; 1.1.0 minor 1.1.0", {{"m", "1.1.0"}}},
           Row{"another component",
               {"0.1.0-network", "0.2.0-network", "0.3.0-workspaces"},
               "0.1.0-network",
               "0.1.0-network 0.1.0-network; 0.2.0-network minor 0.2.0-network",
               {{"m", "0.2.0-network"}}},
           Row{"four numbers", {"1.0.0.1", "2.0.0.0"}, "1.0.0.1", "1.0.0.1  unversioned-reference", {}},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      std::string name = row.name;
      std::replace(name.begin(), name.end(), ' ', '-');
      GitRepository& lib = repository(name + ".git");
      for (const char* tag : row.tags) {
        lib.commit({{"main.tf", fmt::format("# {}\n", tag)}});
        lib.tag(tag);
      }
      const std::string source = "git::" + lib.url() + "?ref=";
      std::filesystem::remove(root() / ".terraform.lock.hcl");
      write("main.tf", module_call("m", source + row.ref));
      BOOST_TEST(modlock({"lock", "--include", "modules"}).exit_code == 0);
      BOOST_TEST(lines() == std::vector<std::string>{std::string("module.m ") + row.listed},
                 boost::test_tools::per_element());
      const bool is_ambiguous = std::string_view(row.name) == "builds";
      const Ran outdated = modlock({"outdated"});
      BOOST_TEST(outdated.exit_code == 0);
      BOOST_TEST((outdated.out.find("ambiguous") != std::string::npos) == is_ambiguous, outdated.out);
      BOOST_TEST((outdated.err.find("name version 1.1.0, but different commits") != std::string::npos) == is_ambiguous);
      for (const auto& [update, ref] : row.updates) {
        write("main.tf", module_call("m", source + row.ref));
        const Ran ran = modlock({"update", "--include", "modules", update});
        BOOST_TEST(read("main.tf") == module_call("m", source + ref), update << ": " << ran.err);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_kind_of_call) {
  GitRepository& dns = repository("dns.git");
  release(dns, "1.0.0", {{"inner.tf", module_call("inner", git(), "~> 1.0")}});
  write("net/main.tf", module_call("tag", git() + "?ref=v2.0.0"));
  write("main.tf", module_call("branch", git() + "?ref=main") + module_call("constraint", git(), "~> 1.0.0") +
                       module_call("commit", git() + "?ref=" + vpc.id("v1.0.0")) +
                       module_call("dns", "git::" + dns.url() + "?ref=v1.0.0") + module_call("head", git()) +
                       module_call("net", "./net") + module_call("tag", git() + "?ref=v1.0.0") +
                       module_call("tag_below_tags", git() + "?ref=tags/v1.0.0") +
                       module_call("tag_in_full", git() + "?ref=refs/tags/v1.0.0^{}") +
                       module_call("unknown", git() + "?ref=${timestamp()}"));
  const std::vector<std::string> expected = {
      "module.branch main  unversioned-reference",
      "module.commit <1.0.0> 1.0.0; 1.1.0 minor <1.1.0>; 2.1.0 major <2.1.0>",
      "module.constraint ~> 1.0.0 1.0.1; 1.1.0 minor ~> 1.1.0; 2.1.0 major ~> 2.1.0",
      "module.dns v1.0.0 1.0.0",
      "module.head   unspecified-version",
      "module.net   local",
      "module.net.tag v2.0.0 2.0.0; 2.1.0 minor v2.1.0",
      "module.tag v1.0.0 1.0.0; 1.1.0 minor v1.1.0; 2.1.0 major v2.1.0",
      "module.tag_below_tags tags/v1.0.0 1.0.0; 1.1.0 minor tags/v1.1.0; 2.1.0 major tags/v2.1.0",
      "module.tag_in_full refs/tags/v1.0.0^{} 1.0.0; 1.1.0 minor refs/tags/v1.1.0; 2.1.0 major refs/tags/v2.1.0",
      "module.unknown   contains-variable",
  };
  const auto found = lines();
  BOOST_TEST(found == expected, boost::test_tools::per_element());
  const Json::Value commit = json({"update", "--list"})["dependencies"][1];
  BOOST_TEST(commit["currentDigest"].asString() == commit["currentValue"].asString());
}

// What is called within a package is what the locked package calls, whatever is installed.
BOOST_AUTO_TEST_CASE(calls_of_packages_are_read_from_what_is_locked) {
  GitRepository& net = repository("net.git");
  release(net, "1.0.0", {{"inner.tf", module_call("old", git() + "?ref=v1.0.0")}});
  release(net, "2.0.0", {{"inner.tf", module_call("new", git() + "?ref=v1.0.0")}});
  write("main.tf", module_call("net", "git::" + net.url() + "?ref=v1.0.0"));
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  write("main.tf", module_call("net", "git::" + net.url() + "?ref=v2.0.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(read(".terraform/modules/net/inner.tf").find("\"old\"") != std::string::npos);
  const auto subjects = [this] {
    std::string text;
    const Json::Value found = json({"update", "--list", "module.net.new"});
    for (const Json::Value& dependency : found["dependencies"]) {
      text += dependency["subject"].asString() + " ";
    }
    return text;
  };
  BOOST_TEST(subjects() == "module.net.new ");
  // Also on a machine that has neither the package nor an installation.
  std::filesystem::remove_all(cache());
  std::filesystem::remove_all(root() / ".terraform");
  BOOST_TEST(subjects() == "module.net.new ");
  BOOST_TEST(modlock({"update", "--list", "module.net.old"}).exit_code != 0);
}

BOOST_AUTO_TEST_CASE(calls_that_a_package_pins_are_not_the_newest) {
  GitRepository& net = repository("net.git");
  release(net, "1.0.0",
          {{"inner.tf", module_call("exact", git(), "1.0.0") + module_call("newest", git() + "?ref=v2.1.0") +
                            module_call("old", git() + "?ref=v1.0.0")}});
  write("main.tf", module_call("net", "git::" + net.url() + "?ref=v1.0.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(modlock({"outdated", "net.exact", "net.newest", "net.old"}).out ==
             "module.net.exact   1.0.0                                 pinned by module.net\n"
             "module.net.newest  v2.1.0 (<2.1.0...>)  (?ref=v2.1.0)  newest\n"
             "module.net.old     v1.0.0 (<1.0.0...>)  (?ref=v1.0.0)  pinned by module.net\n");
  const Json::Value found = json({"outdated", "net.old", "net.newest"})["dependencies"];
  BOOST_TEST(found[1]["pinnedBy"].asString() == "module.net");
  BOOST_TEST(!found[0].isMember("pinnedBy"));
  const Ran pinned = modlock({"update", "net.old"});
  BOOST_TEST(pinned.err.ends_with(
                 "Info: module.net.old 1.0.0 is pinned by module.net, and newer versions exist [NO_MATCHING_VERSION]\n"
                 "  hint: they need a newer version of module.net; run: tofu-modlock update module.net\n"),
             pinned.err);
}

BOOST_AUTO_TEST_CASE(a_hint_names_the_directory_of_the_root_module) {
  write("my live/main.tf", module_call("a", git(), "~> 1.0.0") + module_call("tag", git() + "?ref=v1.0.0"));
  BOOST_REQUIRE(modlock({"lock", "--chdir", "my live"}).exit_code == 0);
  const std::string select = "To select one, run: tofu-modlock update --chdir 'my live' SUBJECT=VERSION\n";
  for (const char* command : {"outdated", "status", "upgrade"}) {
    BOOST_TEST_CONTEXT(command) {
      const Ran ran = modlock({command, "--chdir", "my live"});
      BOOST_TEST(ran.out.find(select) != std::string::npos, ran.out);
    }
  }
  const Ran upgraded = modlock({"upgrade", "--chdir", "my live"});
  BOOST_TEST(
      upgraded.out.find("To list newer tags, run: tofu-modlock outdated --chdir 'my live'\n") != std::string::npos,
      upgraded.out);
}

BOOST_AUTO_TEST_CASE(an_invalid_source_is_reported_once) {
  write("main.tf",
        module_call("bad", "localhost:8443/team/vpc/aws", "1.0.0") + module_call("tag", git() + "?ref=v2.0.0"));
  const Ran ran = modlock({"outdated"});
  BOOST_TEST(ran.exit_code == 8);
  const std::size_t reported = ran.err.find("[SOURCE_INVALID]");
  BOOST_TEST(reported != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("[SOURCE_INVALID]", reported + 1) == std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("Error: ") == 0U, ran.err);
  BOOST_TEST(ran.out.find("unknown\n") != std::string::npos, ran.out);
  BOOST_TEST(ran.out.find("skipped") == std::string::npos, ran.out);
  BOOST_TEST(ran.out.find("-> 2.1.0 (v2.1.0, minor)\n") != std::string::npos, ran.out);
  const Ran refused = modlock({"update", "module.bad"});
  BOOST_TEST(refused.exit_code == 8);
  BOOST_TEST(refused.err.find("[SOURCE_INVALID]") != std::string::npos, refused.err);
}

BOOST_AUTO_TEST_CASE(a_locked_reference_is_shown_with_its_commit) {
  write("main.tf", module_call("branch", git() + "?ref=main") + module_call("head", git()) +
                       module_call("tag", git() + "?ref=v1.0.0"));
  release(repository("dns.git"), "1.0.0");
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(
      modlock({"outdated"}).out ==
      "module.branch  main (<3.0.0-rc1...>)    (?ref=main)    skipped: its branch, tag or commit is not a version\n"
      "module.head    commit <3.0.0-rc1...>                   skipped: no version specified\n"
      "module.tag     v1.0.0 (<1.0.0...>)  (?ref=v1.0.0)  -> 1.1.0 (v1.1.0, minor), 2.1.0 (v2.1.0, major)\n"
      "To select one, run: tofu-modlock update SUBJECT=VERSION\n");
  const Json::Value tag = json({"outdated", "module.tag"})["dependencies"][0];
  BOOST_TEST(tag["ref"].asString() == "v1.0.0");
  BOOST_TEST(shown(tag["origin"].asString()) == "git:<1.0.0>");
  BOOST_TEST(modlock({"why", "tag"}).out.find("module.tag  v1.0.0 (<1.0.0...>)\n") == 0U);
  BOOST_TEST(modlock({"why", "head"}).out.find("module.head  commit <3.0.0-rc1...>\n") == 0U);
}

BOOST_AUTO_TEST_CASE(what_is_locked_is_where_it_starts) {
  write("main.tf", module_call("vpc", git(), ">= 1.0, < 2.0"));
  release(repository("dns.git"), "1.0.0");
  modlock({"lock"});
  release(vpc, "1.2.0");
  const Json::Value found = json({"update", "--list"})["dependencies"][0];
  BOOST_TEST(found["lockedVersion"].asString() == "1.1.0");
  BOOST_TEST(found["depType"].asString() == "module");
  BOOST_TEST(found["datasource"].asString() == "git-tags");
  BOOST_TEST(found["packageFile"].asString() == "main.tf");
  const Ran ran = modlock({"update", "--list"});
  BOOST_TEST(ran.out ==
             "module.vpc  1.1.0  (>= 1.0, < 2.0)  -> 1.2.0 (lock only, minor), 2.1.0 (>= 1.0, < 3.0, major)\n"
             "To select one, run: tofu-modlock update SUBJECT=VERSION\n");
}

BOOST_AUTO_TEST_CASE(providers) {
  GitRepository& dns = repository("dns.git");
  release(dns, "1.0.0", {{"versions.tf", required_cloud("< 3.0.0")}});
  for (const char* version : {"1.0.0", "1.5.0", "2.0.0", "3.0.0"}) {
    registry.publish({.name = "acme/cloud", .version = version});
  }
  write("main.tf", required_cloud("~> 1.0") + module_call("dns", "git::" + dns.url() + "?ref=v1.0.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  const std::vector<std::string> expected = {
      "provider.registry.opentofu.org/acme/cloud ~> 1.0 1.5.0; 2.0.0 major ~> 2.0"};
  const auto found = lines({"provider.acme/cloud"});
  BOOST_TEST(found == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_update_can_be_asked_for) {
  write("main.tf", module_call("a", git(), "~> 1.0.0") + module_call("b", git() + "?ref=v1.0.0"));
  write(".tofu-modlock.hcl", "resolution = \"per-call\"\n");
  modlock({"lock"});
  const Json::Value found = json({"update", "--list"});
  BOOST_TEST(found["dependencies"][1]["updates"].size() == 2U);
  for (const Json::Value& dependency : found["dependencies"]) {
    for (const Json::Value& update : dependency["updates"]) {
      const Ran ran =
          modlock({"update", "--dry-run", dependency["subject"].asString() + "=" + update["newVersion"].asString()});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(ran.out.find(update["newValue"].asString()) != std::string::npos, ran.out);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_source_that_is_gone_does_not_hide_the_others) {
  write("main.tf",
        module_call("a", "git::file:///nowhere/gone.git?ref=v1.0.0") + module_call("b", git() + "?ref=v2.0.0"));
  const Json::Value found = json({"update", "--list"});
  BOOST_TEST(found["dependencies"].size() == 2U);
  BOOST_TEST(found["dependencies"][1]["updates"][0]["newVersion"].asString() == "2.1.0");
  BOOST_TEST(found["diagnostics"][0]["subject"].asString() == "module.a");
  const Ran unknown = modlock({"update", "--list", "module.nope"});
  BOOST_TEST(unknown.exit_code == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
