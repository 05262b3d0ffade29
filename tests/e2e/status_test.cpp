// The commands that other names stand for, and the state of a root module on one screen.

#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

struct Status : Scene {
  Status() : vpc(repository("vpc.git")), dns(repository("dns.git")) {
    release(vpc, "1.0.0");
    release(dns, "2.0.0");
    dns.tag("v2.1.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url()) + module_call("dns", "git::" + dns.url() + "?ref=v2.0.0"));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  }
  // The output; what is locked to a commit has its first characters.
  Ran status(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), "status");
    return modlock(flags);
  }
  GitRepository& vpc;
  GitRepository& dns;
};

BOOST_FIXTURE_TEST_SUITE(status_command, Status)

BOOST_AUTO_TEST_CASE(each_state_has_its_row) {
  check_ran(status(), 3,
            "SUBJECT     LOCKED  INSTALLED  NEWER  VERDICT\n"
            "module.dns  -       -          2.1.0  not-locked\n"
            "module.vpc  -       -          -      not-locked\n"
            "0 verified, 2 not locked\n"
            "To select one, run: tofu-modlock update SUBJECT=VERSION\n",
            "For details, run tofu-modlock verify.\n");
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  check_ran(status(), 3,
            "SUBJECT     LOCKED                 INSTALLED  NEWER  VERDICT\n"
            "module.dns  v2.0.0 (<2.0.0...>)  no         2.1.0  missing\n"
            "module.vpc  1.0.0                  no         -      missing\n"
            "0 verified, 2 missing\n"
            "To select one, run: tofu-modlock update SUBJECT=VERSION\n",
            "For details, run tofu-modlock verify.\n");
  BOOST_REQUIRE(modlock({"install"}).exit_code == 0);
  release(vpc, "1.1.0");
  release(vpc, "2.0.0");
  check_ran(status(), 0,
            "SUBJECT     LOCKED                 INSTALLED  NEWER         VERDICT\n"
            "module.dns  v2.0.0 (<2.0.0...>)  yes        2.1.0         verified\n"
            "module.vpc  1.0.0                  yes        1.1.0, 2.0.0  verified\n"
            "2 verified\n"
            "To select one, run: tofu-modlock update SUBJECT=VERSION\n");
  write(".terraform/modules/vpc/main.tf", "# changed\n");
  check_ran(status({"--offline"}), 4,
            "SUBJECT     LOCKED                 INSTALLED  NEWER  VERDICT\n"
            "module.dns  v2.0.0 (<2.0.0...>)  yes        ?      verified\n"
            "module.vpc  1.0.0                  differs    ?      tampered\n"
            "1 verified, 1 tampered\n",
            "Newer versions are not known in offline mode.\nFor details, run tofu-modlock verify.\n");
}

BOOST_AUTO_TEST_CASE(denied_releases_are_shown_with_their_installation) {
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const std::string locked = read(".tofu-modlock.hcl");
  write(".tofu-modlock.hcl", locked + "deny \"*/vpc\" {\n  versions = \"1.0.0\"\n}\n");
  const auto check_row = [&](const std::string& installed) {
    const Ran ran = status({"--offline"});
    BOOST_TEST(ran.exit_code == 4, ran.err);
    BOOST_TEST(ran.out.find("module.vpc  1.0.0                  " + installed + "?      denied\n") != std::string::npos,
               ran.out);
  };
  check_row("no         ");
  write(".tofu-modlock.hcl", locked);
  BOOST_REQUIRE(modlock({"install"}).exit_code == 0);
  write(".tofu-modlock.hcl", locked + "deny \"*/vpc\" {\n  versions = \"1.0.0\"\n}\n");
  check_row("yes        ");
  write(".terraform/modules/vpc/main.tf", "# changed\n");
  check_row("differs    ");
}

BOOST_AUTO_TEST_CASE(unreachable_source_is_marked_and_changes_no_exit_code) {
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  std::filesystem::remove_all(repositories() / "vpc.git");
  const Ran ran = status();
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out ==
             "SUBJECT     LOCKED                 INSTALLED  NEWER          VERDICT\n"
             "module.dns  v2.0.0 (<2.0.0...>)  yes        2.1.0          verified\n"
             "module.vpc  1.0.0                  yes        ? (NOT_FOUND)  verified\n"
             "2 verified\n"
             "To select one, run: tofu-modlock update SUBJECT=VERSION\n");
  BOOST_TEST(ran.err.starts_with("Warning: "), ran.err);
}

BOOST_AUTO_TEST_CASE(json_has_both_results) {
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  const Json::Value status = json({"status", "--json"});
  BOOST_TEST((status["verify"] == json({"verify", "--json"})));
  BOOST_TEST((status["updates"]["dependencies"] == json({"outdated", "--json"})["dependencies"]));
  BOOST_TEST(!json({"status", "--json", "--offline"}).isMember("updates"));
}

BOOST_AUTO_TEST_CASE(other_names_print_the_same) {
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  using Words = std::vector<std::string>;
  for (const auto& [name, words] : {std::pair<Words, Words>{{"outdated"}, {"update", "--list"}},
                                    {{"outdated", "module.dns"}, {"update", "--list", "module.dns"}},
                                    {{"tree"}, {"inspect"}},
                                    {{"why", "module.vpc"}, {"explain", "module.vpc"}},
                                    {{"version"}, {"--version"}}}) {
    BOOST_TEST_CONTEXT(name.front()) {
      const Ran ran = modlock(name);
      BOOST_TEST(!ran.out.empty());
      BOOST_TEST(ran.out == modlock(words).out);
    }
  }
}

BOOST_AUTO_TEST_CASE(quiet_commands_print_only_failures) {
  for (const char* command : {"lock", "install", "verify", "status", "upgrade"}) {
    check_ran(modlock({command, "-q"}), 0, "");
  }
  check_ran(modlock({"cache", "prune", "--quiet"}), 0, "");
  BOOST_TEST(modlock({"tree", "-q"}).out == modlock({"tree"}).out);
  BOOST_TEST(modlock({"verify", "-q", "--json"}).out == modlock({"verify", "--json"}).out);
  write(".terraform/modules/vpc/main.tf", "# changed\n");
  const Ran loud = modlock({"verify"});
  BOOST_TEST(loud.exit_code == 4);
  check_ran(modlock({"verify", "-q"}), 4, loud.out, loud.err);
}

BOOST_AUTO_TEST_CASE(verbose_commands_print_each_request) {
  const Ran ran = modlock({"lock", "-v"});
  BOOST_TEST(ran.exit_code == 0);
  std::string err = ran.err;
  for (std::size_t at = err.find(" in "); at != std::string::npos; at = err.find(" in ", at + 4)) {
    err.replace(at + 4, err.find_first_not_of("0123456789", at + 4) - at - 4, "<n>");
  }
  const std::string line = "/vpc.git: exit code 0 in <n> ms\n";
  BOOST_TEST(err.find("debug: git ls-remote git::file://<dir>/repositories" + line) != std::string::npos, err);
  BOOST_TEST(err.find("debug: git fetch git::file://<dir>/repositories" + line) != std::string::npos, err);
  BOOST_TEST(modlock({"lock"}).err.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
