// A bad release, from outside: it is found in lock files, denied, and replaced.

#include <fmt/ranges.h>

#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

// Three root modules of a repository: the first calls a module with the bad release, the second calls it directly, the
// third is locked to an earlier one.
struct Fleet : Scene {
  Fleet() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    release(vpc, "1.1.0");
    BOOST_REQUIRE(program({"git", "init", "--quiet"}).exit_code == 0);
    write(".gitignore", ".terraform/\n");
    const std::string call = module_call("vpc", "git::" + vpc.url());
    write("modules/app/main.tf", call);
    write("live/a/main.tf", module_call("app", "../../modules/app"));
    write("live/b/main.tf", call);
    write("live/c/main.tf", call);
    write("live/a/.tofu-modlock.hcl", module_rule("app.vpc", "~> 1.0"));
    write("live/b/.tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
    write("live/c/.tofu-modlock.hcl", module_rule("vpc", "1.0.0"));
    for (const char* root : {"live/a", "live/b", "live/c"}) {
      BOOST_REQUIRE(modlock({"lock", root}).exit_code == 0);
    }
    release_name = vpc.url() + "@1.1.0";
  }
  Ran find(const std::string& release) const { return modlock({"explain", "--recursive", "--find", release}); }
  void deny(const std::string& file) const {
    write_text(file, "deny \"*/repositories/vpc\" {\n  versions = \"= 1.1.0\"\n  reason   = \"see INC-7\"\n}\n");
  }

  GitRepository& vpc;
  std::string release_name;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(bad_release, Fleet)

BOOST_AUTO_TEST_CASE(every_root_and_call_path_is_found) {
  const Ran ran = find(release_name);
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out ==
             "ROOT    SUBJECT         LOCKED  SOURCE\n"
             "live/a  module.app.vpc  1.1.0   git::file://<dir>/repositories/vpc.git\n"
             "live/b  module.vpc      1.1.0   git::file://<dir>/repositories/vpc.git\n"
             "2 of 3 root modules lock file://<dir>/repositories/vpc.git@1.1.0.\n");
  BOOST_TEST(ran.err == "");
  const Ran none = find(vpc.url() + "@9.0.0");
  BOOST_TEST(none.exit_code == 0, none.err);
  BOOST_TEST(none.out == "No root module locks file://<dir>/repositories/vpc.git@9.0.0 (3 lock files searched).\n");
  const Json::Value result = json({"explain", "--recursive", "--find", "*@1.0.0"});
  BOOST_TEST_REQUIRE(result["results"].size() == 3U);
  BOOST_TEST(result["results"][0]["found"].empty());
  BOOST_TEST(result["results"][2]["root"].asString() == "<dir>/root/live/c");
  BOOST_TEST(result["results"][2]["found"][0]["subject"].asString() == "module.vpc");
  BOOST_TEST(result["results"][2]["found"][0]["origin"].asString() == "git:<1.0.0>");
}

BOOST_AUTO_TEST_CASE(a_root_that_cannot_be_searched_is_named) {
  write("live/b/.terraform.lock.hcl", "module {\n");
  std::filesystem::remove(root() / "live/c/.terraform.lock.hcl");
  const Ran ran = find(vpc.url() + "@9.0.0");
  BOOST_TEST(ran.exit_code == 8, ran.err);
  BOOST_TEST(ran.out == "");
  BOOST_TEST(ran.err.find("live/b") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("No lock file, so nothing was searched: live/c\n"
                          "1 of 3 root modules could not be read, so they may lock it too.\n") != std::string::npos,
             ran.err);
  const Ran invalid = find("vpc");
  BOOST_TEST(invalid.exit_code == 2);
  BOOST_TEST(invalid.err.find("\"vpc\" does not name a source: it has no path") != std::string::npos, invalid.err);
}

BOOST_AUTO_TEST_CASE(a_denied_release_stops_commands_until_it_is_replaced) {
  BOOST_REQUIRE(modlock({"install", "live/b"}).exit_code == 0);
  deny(path("home/.config/tofu-modlock/config.hcl").string());
  const std::string error =
      "1.1.0 of \"git::file://<dir>/repositories/vpc.git\" is denied by \"*/repositories/vpc\" in "
      "<dir>/home/.config/tofu-modlock/config.hcl:1: see INC-7";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"lock", "live/b"},
        {"lock", "--frozen", "live/b"},
        {"install", "live/b"},
        {"install", "--offline", "live/b"},
        {"mirror", "--chdir", "live/b", "--", "true"},
        {"bundle", "create", "live/b", "-o", path("b.tar").string()},
        {"bundle", "pull", "oci://127.0.0.1:1/a", "live/b", "--plain-http", "-o", path("b.tar").string()},
        {"explain", "--chdir", "live/b", "module.vpc"}}) {
    BOOST_TEST_CONTEXT(fmt::format("{}", fmt::join(command, " "))) {
      const Ran ran = modlock(command);
      BOOST_TEST(ran.exit_code == 4);
      BOOST_TEST(ran.err.find(error) != std::string::npos, ran.err);
    }
  }
  const Ran verified = modlock({"verify", "live/b"});
  BOOST_TEST(verified.exit_code == 4);
  BOOST_TEST(verified.out == "denied  module.vpc  1.1.0  denied by the settings\n\n0 verified, 1 denied\n",
             verified.out);
  BOOST_TEST(verified.err ==
                 "\nmodule.vpc: denied by \"*/repositories/vpc\" in "
                 "<dir>/home/.config/tofu-modlock/config.hcl:1: see INC-7\n"
                 "  run tofu-modlock upgrade --chdir live/b --target module.vpc\n",
             verified.err);
  BOOST_REQUIRE(modlock({"upgrade", "live/b"}).exit_code == 0);
  BOOST_TEST(read("live/b/.terraform.lock.hcl").find("version = \"1.0.0\"") != std::string::npos);
  BOOST_TEST(modlock({"install", "live/b"}).exit_code == 0);
  BOOST_TEST(modlock({"verify", "live/b"}).exit_code == 0);
}

// Paths in JSON stay relative to the root.
BOOST_AUTO_TEST_CASE(paths_of_settings_open_from_the_working_directory) {
  const std::string pin = read("live/b/.tofu-modlock.hcl");
  deny((root() / ".tofu-modlock.hcl").string());
  write("live/b/.tofu-modlock.hcl", "deny \"*/repositories/vpc\" {\n  versions = \"= 1.1.0\"\n}\n" + pin);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"lock", "--recursive"},
                                                  {"install", "--recursive"},
                                                  {"verify", "--recursive"},
                                                  {"ci", "--recursive"}}) {
    BOOST_TEST_CONTEXT(command.front()) {
      const Ran ran = modlock(command);
      BOOST_TEST(ran.exit_code == 4);
      for (const char* rule : {"in live/b/.tofu-modlock.hcl:1", "in .tofu-modlock.hcl:1: see INC-7"}) {
        BOOST_TEST(ran.err.find(fmt::format("denied by \"*/repositories/vpc\" {}", rule)) != std::string::npos,
                   ran.err);
      }
      BOOST_TEST(ran.err.find("../.tofu-modlock.hcl") == std::string::npos, ran.err);
    }
  }
  BOOST_TEST(modlock({"install", "--recursive"}).err.find("  - .tofu-modlock.hcl:1:1: the rule is here\n") !=
             std::string::npos);
  BOOST_TEST(modlock({"install", "--json", "live/a"}).out.find("in ../../.tofu-modlock.hcl:1: see INC-7") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_update_of_a_subject_names_the_rule_that_excludes_a_version) {
  deny(path("home/.config/tofu-modlock/config.hcl").string());
  const std::string denied =
      "1.1.0 of \"git::file://<dir>/repositories/vpc.git\" is denied by \"*/repositories/vpc\" in "
      "<dir>/home/.config/tofu-modlock/config.hcl:1: see INC-7";
  const Ran updated = modlock({"update", "--chdir", "live/c", "module.vpc"});
  BOOST_TEST(updated.exit_code == 0, updated.err);
  BOOST_TEST(updated.err.starts_with("Info: module.vpc 1.0.0 is the newest version [NO_MATCHING_VERSION]\nInfo: " +
                                     denied + " [RELEASE_DENIED]\n"),
             updated.err);
  const Ran listed = modlock({"outdated", "--chdir", "live/c", "module.vpc"});
  BOOST_TEST(listed.exit_code == 0, listed.err);
  BOOST_TEST(listed.err.starts_with("Info: " + denied + " [RELEASE_DENIED]\n"), listed.err);
  BOOST_TEST(modlock({"outdated", "--chdir", "live/c"}).err == "");
  release(vpc, "1.2.0");
  const Ran newer = modlock({"outdated", "--chdir", "live/c", "module.vpc"});
  BOOST_TEST(newer.err == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
