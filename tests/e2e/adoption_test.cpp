// A first lock of a project that a client has installed already.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
// Every way to be called, installed by a client while all sources had 1.0.0; then each gets a 1.1.0.
struct OldProject : Scene {
  OldProject() : net(repository("net")), zone(repository("zone")), vpc(repository("vpc")) {
    write_text(path("tofurc"), registry.host_block(kRegistryHost));
    write_text(path("home/.gitconfig"), "[protocol \"file\"]\n\tallow = always\n");
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["TF_IN_AUTOMATION"] = "1";
    publish("1.0.0");
    write("main.tf", module_call("main", "git::" + net.url()) + module_call("again", "git::" + net.url() + "//sub") +
                         module_call("ranged", "git::" + zone.url()) +
                         module_call("tagged", "git::" + zone.url() + "?ref=v1.0.0") +
                         module_call("vpc", std::string(kRegistryHost) + "/acme/vpc/aws", "~> 1.0") +
                         module_call("local", "./local"));
    write("local/main.tf", module_call("vpc", std::string(kRegistryHost) + "/acme/vpc/aws"));
    write(".tofu-modlock.hcl", module_rule("ranged", "~> 1.0"));
  }
  void publish(const std::string& version) {
    const std::string leaf = "output \"version\" {\n  value = \"" + version + "\"\n}\n";
    const auto commit = [&](GitRepository& repository, const std::string& name, GitRepository::Files files) {
      files["main.tf"] = leaf;
      files["README"] = name;  // equal files would be equal commits
      name_id(repository.commit(files), name + " " + version);
      repository.tag("v" + version);
    };
    commit(zone, "zone", {});
    commit(net, "net",
           {{".hidden", "x"}, {"sub/main.tf", leaf}, {"sub/nested.tf", module_call("nested", "git::" + zone.url())}});
    commit(vpc, "vpc", {});
    registry.add_version("acme/vpc/aws", version,
                         ModuleRegistry::by_header("git::file://" + vpc.path().string() + "?ref=v" + version));
  }
  void install_by(const std::string& client) {
    const Ran ran = program({client, "get", "-no-color"});
    BOOST_REQUIRE_MESSAGE(ran.exit_code == 0, ran.out + ran.err);
    manifest = read(".terraform/modules/modules.json");
    publish("1.1.0");
  }
  void start_again() const {
    fs::remove_all(root() / ".terraform");
    fs::remove(root() / ".terraform.lock.hcl");
  }

  ModuleRegistry registry;
  GitRepository& net;
  GitRepository& zone;
  GitRepository& vpc;
  std::string manifest;
};

std::string actions(const Json::Value& result) {
  std::string text;
  for (const Json::Value& change : result["changes"]) {
    text += change["subject"].asString() + " " + change["action"].asString() + "\n";
  }
  return text;
}

const Commits kInstalled = {{"again", "<net 1.0.0>"}, {"again.nested", "<zone 1.0.0>"}, {"local.vpc", "<vpc 1.0.0>"},
                            {"main", "<net 1.0.0>"},  {"ranged", "<zone 1.0.0>"},       {"tagged", "<zone 1.0.0>"},
                            {"vpc", "<vpc 1.0.0>"}};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(adoption, OldProject, *needs("tofu or terraform"))

BOOST_AUTO_TEST_CASE(first_lock_keeps_what_a_client_installed) {
  install_by(clients().front());
  const Json::Value result = json({"lock", "--implementation", clients().front() == "tofu" ? "opentofu" : "terraform"});
  BOOST_TEST(actions(result) ==
             "module.again adopted\nmodule.again.nested adopted\nmodule.local.vpc adopted\nmodule.main adopted\n"
             "module.ranged adopted\nmodule.tagged adopted\nmodule.vpc adopted\n");
  BOOST_TEST((locked_commits(*this) == kInstalled));
  BOOST_TEST(result["diagnostics"].empty(), result["diagnostics"].toStyledString());
  const Ran verified = modlock({"verify"});
  BOOST_TEST(verified.exit_code == 0, verified.out + verified.err);

  // Installed anew, the client finds what it left.
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
  BOOST_TEST(modlock({"lock"}).out == "The lock file is up to date.\n");
  for (const char* key : {"main", "again", "ranged", "vpc"}) {
    BOOST_TEST(read(".terraform/modules/" + std::string(key) + "/main.tf").find("1.0.0") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(first_lock_says_what_it_adopted) {
  install_by(clients().front());
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out.find("module.again         commit <net 1.0.0...>    adopted\n") == 0U, ran.out);
  BOOST_TEST(ran.out.find("module.ranged        1.0.0                  adopted  (~> 1.0)\n") != std::string::npos,
             ran.out);
  BOOST_TEST(ran.out.find("module.tagged        v1.0.0 (<zone 1.0.0...>)  adopted\n") != std::string::npos, ran.out);
  BOOST_TEST(
      ran.out.find(
          "\n7 modules are locked to the installed version, which may differ from what their sources give now "
          "(adopted).\nIf you did not install it yourself, select versions from the sources: tofu-modlock upgrade\n") !=
          std::string::npos,
      ran.out);
}

BOOST_AUTO_TEST_CASE(without_adoption_the_newest_is_locked) {
  install_by(clients().front());
  const Json::Value result = json({"lock", "--no-adopt"});
  BOOST_TEST(actions(result).find("adopted") == std::string::npos);
  BOOST_TEST((locked_commits(*this) == Commits{{"again", "<net 1.1.0>"},
                                               {"again.nested", "<zone 1.1.0>"},
                                               {"local.vpc", "<vpc 1.1.0>"},
                                               {"main", "<net 1.1.0>"},
                                               {"ranged", "<zone 1.1.0>"},
                                               {"tagged", "<zone 1.0.0>"},
                                               {"vpc", "<vpc 1.1.0>"}}));
}

BOOST_AUTO_TEST_CASE(constraint_that_excludes_the_installed_version_is_obeyed) {
  install_by(clients().front());
  write(".tofu-modlock.hcl", module_rule("ranged", "> 1.0"));
  const Json::Value result = json({"lock"});
  Commits expected = kInstalled;
  expected["ranged"] = "<zone 1.1.0>";
  BOOST_TEST((locked_commits(*this) == expected));
  for (const Json::Value& change : result["changes"]) {
    if (change["subject"] == "module.ranged") {
      BOOST_TEST(shown(change["reason"].asString()) ==
                 "not locked before, and not what is installed: commit <zone 1.0.0...>");
    }
  }
}

BOOST_AUTO_TEST_CASE(second_lock_adopts_nothing_any_more) {
  install_by(clients().front());
  write(".tofu-modlock.hcl", "");
  write("main.tf", module_call("vpc", std::string(kRegistryHost) + "/acme/vpc/aws", "~> 1.0"));
  BOOST_TEST(actions(json({"lock"})) == "module.vpc adopted\n");
  write("main.tf", module_call("vpc", std::string(kRegistryHost) + "/acme/vpc/aws", "~> 1.0") +
                       module_call("main", "git::" + net.url()));
  BOOST_TEST(actions(json({"lock"})) == "module.main added\n");
  BOOST_TEST(locked_commits(*this)["main"] == "<net 1.1.0>");
}

BOOST_AUTO_TEST_CASE(installed_commit_that_nothing_leads_to_is_not_locked) {
  install_by(clients().front());
  // Rewritten history: what is installed is no ancestor of anything any more.
  for (const char* tag : {"refs/tags/v1.0.0", "refs/tags/v1.1.0"}) {
    net.remove(tag);
  }
  net.branch("main", net.commit_tree(net.git({"rev-parse", "main^{tree}"})));
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 4, ran.out + ran.err);
  BOOST_TEST(ran.err.find("[HASH_MISMATCH]") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("note: commit <net 1.0.0...> is installed for module \"again\", and a first lock keeps it") !=
                 std::string::npos,
             ran.err);
  BOOST_TEST(ran.err.find(
                 "hint: to select a version from the source instead, run: tofu-modlock upgrade --target module.again, "
                 "or for all modules: tofu-modlock lock --no-adopt") != std::string::npos,
             ran.err);
  BOOST_TEST(!has(".terraform.lock.hcl"));
}

BOOST_AUTO_TEST_CASE(damaged_manifest_is_not_an_empty_one) {
  install_by(clients().front());
  write(".terraform/modules/modules.json", "{\"Modules\":[");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 1);
  BOOST_TEST(ran.err.find("cannot be used") != std::string::npos, ran.err);
  BOOST_TEST(modlock({"lock", "--no-adopt"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 1);
  const Ran installed = modlock({"install"});
  BOOST_TEST(installed.exit_code == 0);
  BOOST_TEST(
      installed.err.find("/.terraform/modules/modules.json.broken, and a new one was written") != std::string::npos,
      installed.err);
  BOOST_TEST(read(".terraform/modules/modules.json.broken") == "{\"Modules\":[");
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

// Roots a, b, c, …, each calling a repository of its own that bears the root's name.
struct ManyRoots : Scene {
  ManyRoots() {
    for (const char* name : {"a", "b", "c", "d"}) {
      GitRepository& own = repository(std::string(name) + ".git");
      release(own, "1.0.0");
      write(std::string(name) + "/main.tf", module_call("own", "git::" + own.url()));
    }
  }
  // "a: 2 requests, own added", one a line.
  std::string lock_all(int exit_code) const {
    const Json::Value result = json({"lock", "a", "b", "c", "d"}, exit_code);
    std::string text;
    for (const Json::Value& one : result["results"]) {
      const std::string name = fs::path(one["root"].asString()).filename().string();
      text += name + ": " +
              (one.isMember("error") ? one["error"]["data"]["code"].asString() + "\n"
                                     : (one["stats"]["requests"].asUInt() > 0 ? "asked, " : "not asked, ") +
                                           std::to_string(one["changes"].size()) + " changes\n");
    }
    return text;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(many_roots, ManyRoots)

BOOST_AUTO_TEST_CASE(failed_root_leaves_the_others_locked_and_the_rerun_does_only_the_rest) {
  fs::rename(repositories() / "c.git", path("away"));
  BOOST_TEST(lock_all(7) == "a: asked, 1 changes\nb: asked, 1 changes\nc: NOT_FOUND\nd: asked, 1 changes\n");
  fs::rename(path("away"), repositories() / "c.git");
  BOOST_TEST(lock_all(0) ==
             "a: not asked, 0 changes\nb: not asked, 0 changes\nc: asked, 1 changes\nd: not asked, 0 changes\n");
}

BOOST_AUTO_TEST_CASE(killed_first_lock_continues_where_it_stopped) {
  // A git that kills who started it as soon as the third repository is asked.
  const std::string git = find_program("git")->string();
  write_text(path("bin/git"),
             "#!/bin/sh\ncase \"$*\" in *c.git*) kill -KILL $PPID; exit 1;; esac\nexec " + git + " \"$@\"\n");
  fs::permissions(path("bin/git"), fs::perms::owner_all);
  const std::string usual = environment["PATH"];
  environment["PATH"] = path("bin").string() + ":" + usual;
  BOOST_TEST(modlock({"lock", "--jobs", "1", "a", "b", "c", "d"}).exit_code == 137);
  BOOST_TEST(has("b/.terraform.lock.hcl"));
  BOOST_TEST(!has("c/.terraform.lock.hcl"));
  environment["PATH"] = usual;
  BOOST_TEST(lock_all(0) ==
             "a: not asked, 0 changes\nb: not asked, 0 changes\nc: asked, 1 changes\nd: asked, 1 changes\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
