// `ci`: the lock file is checked, packages are installed, the client runs, and the result is verified.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct Ci : Scene {
  Ci() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    for (const char* name : {"a", "b"}) {
      write(std::string(name) + "/main.tf", call("vpc"));
    }
    modlock({"lock", "a", "b"});
    // Prints where it runs and what it gets; `exit N` in a root decides its exit code.
    write_text(path("bin/client"),
               "#!/bin/sh\necho \"client in ${PWD##*/}: $* [$TF_CLI_ARGS_init]\"\n[ ! -e exit ] || exit $(cat exit)\n");
    fs::permissions(path("bin/client"), fs::perms::owner_all);
    environment["PATH"] = path("bin").string() + ":" + environment["PATH"];
  }
  std::string call(const std::string& name) const { return module_call(name, "git::" + vpc.url() + "?ref=v1.0.0"); }

  GitRepository& vpc;
};

constexpr const char* kFlags = "-get=false -lockfile=readonly -input=false";

BOOST_FIXTURE_TEST_SUITE(ci_command, Ci)

BOOST_AUTO_TEST_CASE(installs_runs_the_client_and_verifies) {
  const Ran ran = modlock({"ci", "a", "b", "--", "client", "init", "-backend=false"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  const std::string of_a = std::string("a:\n1 installed.\nclient in a: init -backend=false [") + kFlags + "]\n";
  BOOST_TEST(ran.out == of_a + "\nb:\n" + of_a.substr(3, 13) + "client in b: init -backend=false [" + kFlags + "]\n");
  BOOST_TEST(ran.err == "\nROOT  RESULT      HINT\na     1 verified\nb     1 verified\n2 root modules: 2 ok.\n");
  BOOST_TEST(has("a/.terraform/modules/vpc/main.tf"));
  const Ran again = modlock({"ci", "a"});
  BOOST_TEST(again.out == "0 installed, 1 already in place.\n");
  BOOST_TEST(again.err == "\nROOT  RESULT      HINT\na     1 verified\n1 root module: 1 ok.\n");
}

BOOST_AUTO_TEST_CASE(a_root_that_fails_does_not_stop_the_others) {
  write("a/main.tf", call("vpc") + call("more"));
  write("c/main.tf", call("vpc"));
  const std::string lock_of_a = read("a/.terraform.lock.hcl");
  const Ran ran = modlock({"ci", "a", "b", "c", "--", "client", "plan"});
  BOOST_TEST(ran.exit_code == 3, ran.err);
  BOOST_TEST(
      ran.err.find("a     FROZEN      run: tofu-modlock lock --chdir a --chdir c, review the change and commit it\n"
                   "b     1 verified\n"
                   "c     FROZEN      as for a\n"
                   "3 root modules: 1 ok, 2 failed (exit code 3).\n") != std::string::npos,
      ran.err);
  BOOST_TEST(ran.out.find("client in a") == std::string::npos);
  BOOST_TEST(ran.out.find("client in b: plan") != std::string::npos);
  BOOST_TEST(read("a/.terraform.lock.hcl") == lock_of_a);
  BOOST_TEST(!has("c/.terraform.lock.hcl"));
}

// The last line of each report names the directories that are not roots because of a call.
BOOST_AUTO_TEST_CASE(called_directories_end_the_report) {
  write("a/main.tf", call("vpc") + module_call("net", "../net"));
  write("net/main.tf", call("vpc"));
  modlock({"lock", "--recursive"});
  const std::string left = "Not a root: net (called by a).";
  BOOST_TEST(modlock({"ci", "--recursive"}).err.ends_with("2 root modules: 2 ok. " + left + "\n"));
  BOOST_TEST(modlock({"verify", "--recursive"}).err.ends_with("2 root modules, 1 source: all ok. " + left + "\n"));
  BOOST_TEST(modlock({"verify", "--recursive", "--exclude", "b"}).err.ends_with("\n" + left + "\n"));
  const Json::Value all = json({"verify", "--recursive", "--json"});
  BOOST_TEST(all["notRoots"][0]["directory"].asString() == "<dir>/root/net");
  BOOST_TEST(all["notRoots"][0]["by"].asString() == "<dir>/root/a");
  BOOST_TEST(json({"verify", "--recursive", "--exclude", "b", "--json"})["notRoots"].size() == 1U);
  BOOST_TEST(modlock({"verify", "--recursive", "--sarif"}).out.find(left) != std::string::npos);
  for (int i = 0; i < 11; ++i) {
    write(fmt::format("net{}/main.tf", i), call("vpc"));
    write(fmt::format("a/{}.tf", i), module_call(fmt::format("net{}", i), fmt::format("../net{}", i)));
  }
  modlock({"lock", "--recursive"});
  BOOST_TEST(modlock({"verify", "--recursive"}).err.ends_with(" Not a root: 12 in . (called by others).\n"));
}

BOOST_AUTO_TEST_CASE(the_command_decides_the_client) {
  write_text(path("bin/terraform"), "#!/bin/sh\n");
  fs::permissions(path("bin/terraform"), fs::perms::owner_all);
  write("a/x.tofu", call("more"));  // not locked; Terraform does not read it
  environment.erase("TOFU_MODLOCK_IMPLEMENTATION");
  BOOST_TEST(modlock({"ci", "a"}).exit_code == 3);
  BOOST_TEST(modlock({"ci", "a", "--", "terraform", "plan"}).exit_code == 0);
  const Ran ran = modlock({"ci", "a", "--implementation", "opentofu", "--", "terraform", "plan"});
  BOOST_TEST(ran.exit_code == 2);
  BOOST_TEST(ran.err ==
             "Error: the command runs Terraform, and --implementation or TOFU_MODLOCK_IMPLEMENTATION is opentofu "
             "[INVALID_PARAMS]\n  hint: set it to terraform, or omit it\n");
}

BOOST_AUTO_TEST_CASE(exit_codes_of_the_client) {
  struct Row {
    const char* name;
    const char* a;  // exit code of the client; empty: the root is not locked
    const char* b;
    int expected;
  };
  for (const Row& row : {
           Row{"none", "0", "0", 0},
           Row{"changes in a plan", "2", "0", 2},
           Row{"an error is worse than changes", "2", "1", 1},
           Row{"in any order", "1", "2", 1},
           Row{"not locked is worse", "1", "", 3},
           Row{"also after changes", "", "2", 3},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const auto& [root, code] : {std::pair{"a", std::string(row.a)}, std::pair{"b", std::string(row.b)}}) {
        write(std::string(root) + "/exit", code.empty() ? "0" : code);
        write(std::string(root) + "/main.tf", call("vpc") + (code.empty() ? call("more") : ""));
      }
      const Ran ran = modlock({"ci", "a", "b", "--", "client", "plan", "-detailed-exitcode"});
      BOOST_TEST(ran.exit_code == row.expected, ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_plan_with_changes_has_not_failed) {
  write("a/exit", "2");
  const Ran changes = modlock({"ci", "a", "--", "client", "plan", "-detailed-exitcode"});
  BOOST_TEST(changes.exit_code == 2);
  BOOST_TEST(changes.err ==
             "\nROOT  RESULT                            HINT\n"
             "a     1 verified, the plan has changes\n1 root module: 1 ok (exit code 2).\n");
  const Ran failed = modlock({"ci", "a", "--", "client", "plan"});
  BOOST_TEST(failed.exit_code == 2);
  BOOST_TEST(failed.err ==
             "\nROOT  RESULT       HINT\na     exit code 2  see its output\n"
             "1 root module: 0 ok, 1 failed (exit code 2).\n");
}

BOOST_AUTO_TEST_CASE(upgrades_are_refused_before_the_client_starts) {
  struct Row {
    const char* name;
    std::vector<std::string> client;
    const char* variable;
    const char* value;
    const char* error;  // empty: the client runs
  };
  const std::string why = " has -upgrade, and init must not change the lock file [INVALID_PARAMS]";
  for (const Row& row : {
           Row{"argument", {"client", "init", "-upgrade"}, "", "", "Error: the command"},
           Row{"two dashes", {"client", "-chdir=x", "init", "--upgrade=true"}, "", "", "Error: the command"},
           Row{"turned off", {"client", "init", "-upgrade=false"}, "", "", ""},
           Row{"of another command", {"client", "plan", "-upgrade"}, "", "", ""},
           Row{"variable",
               {"client", "init"},
               "TF_CLI_ARGS_init",
               "-reconfigure -upgrade",
               "Error: the environment variable TF_CLI_ARGS_init"},
           Row{"variable of all commands",
               {"client", "plan"},
               "TF_CLI_ARGS",
               "-upgrade",
               "Error: the environment variable TF_CLI_ARGS"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto before = environment;
      if (*row.variable != 0) {
        environment[row.variable] = row.value;
      }
      std::vector<std::string> arguments = {"ci", "a", "--"};
      arguments.insert(arguments.end(), row.client.begin(), row.client.end());
      const Ran ran = modlock(arguments);
      environment = before;
      BOOST_TEST(ran.exit_code == (*row.error == 0 ? 0 : 2), ran.err);
      BOOST_TEST((ran.out.find("client in a") != std::string::npos) == (*row.error == 0));
      BOOST_TEST((*row.error == 0 || ran.err.starts_with(row.error + why)), ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(own_arguments_of_init_come_later) {
  environment["TF_CLI_ARGS_init"] = "-get=true";
  const Ran ran = modlock({"ci", "a", "--include", "modules", "--", "client", "init"});
  BOOST_TEST(ran.out.find("client in a: init [-get=false -input=false -get=true]\n") != std::string::npos, ran.out);
}

BOOST_AUTO_TEST_CASE(refusals) {
  BOOST_TEST(modlock({"ci", "a", "--", "no-such-client"}).err.find("[TOOL_MISSING]") != std::string::npos);
  const Ran json = modlock({"ci", "a", "--json"});
  BOOST_TEST(json.exit_code == 2);
  BOOST_TEST(json.out.find("ci has no --json") != std::string::npos, json.out);
  BOOST_TEST(modlock({"ci", "--help-all"}).out.find("--json") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_stock_client_initializes_what_is_locked, *needs("tofu or terraform")) {
  for (const std::string& client : clients()) {
    fs::remove_all(root() / "a/.terraform");
    environment.erase("TOFU_MODLOCK_IMPLEMENTATION");
    const Ran ran = modlock({"ci", "a", "--", client, "init", "-no-color"});
    BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
    BOOST_TEST(ran.out.find("Downloading") == std::string::npos, ran.out);
    BOOST_TEST(ran.err.find("a     1 verified\n") != std::string::npos, ran.err);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
