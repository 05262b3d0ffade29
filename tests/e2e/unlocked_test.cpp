// Calls that no backend can lock: they stop the checks unless they are allowed, and every run names them.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "hg::https://hg.example.test/team/net";
const std::string kAllowed =
    "Warning: 1 call is not locked, as allowed: module.h; calls inside it are not checked [LOCK_UNENFORCED]\n";

std::string setting(const std::string& glob) {
  return "unlocked_sources = [\"" + glob + "\"]\n";
}

struct Unlocked : Scene {
  Unlocked() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    call(module_call("h", kSource));
    BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
    write_text(path("bin/client"), "#!/bin/sh\necho \"client: $* [$TF_CLI_ARGS_init]\"\n");
    fs::permissions(path("bin/client"), fs::perms::owner_all);
    environment["PATH"] = path("bin").string() + ":" + environment["PATH"];
  }
  // The root calls "vpc", which can be locked, and this.
  void call(const std::string& more) const {
    write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0") + more);
  }
  void set_user(const std::string& text) const { write_text(path("home/.config/tofu-modlock/config.hcl"), text); }
  void check(const std::vector<std::string>& command, int exit_code, const std::string& part) const {
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code == exit_code, command.front() << ran.err);
    BOOST_TEST(ran.err.find(part) != std::string::npos, command.front() << ran.err);
    BOOST_TEST((exit_code != 0 || occurrences(ran.err, "as allowed") <= 1), ran.err);
  }

  GitRepository& vpc;
};

BOOST_FIXTURE_TEST_SUITE(unlocked_calls, Unlocked)

BOOST_AUTO_TEST_CASE(who_may_allow_a_call) {
  const std::string refused =
      "module \"h\" is not locked: hg sources are not supported (\"" + std::string(kSource) + "\")";
  const std::string not_in_base = ".tofu-modlock.hcl:1:21: in CI the revision of --base must have this glob too";
  struct Row {
    const char* name;
    std::string checkout;
    std::string user;
    const char* flag;
    const char* variable;
    bool in_ci;
    std::string refused;  // empty: the call is allowed
  };
  for (const Row& row : {
           Row{"no one", "", "", "", "", false, refused},
           Row{"no one, in CI", "", "", "", "", true, refused},
           Row{"a flag", "", "", "hg::https://hg.example.test/*", "", true, ""},
           Row{"a variable", "", "", "", "cas::*,hg::*", true, ""},
           Row{"the user's settings", "", setting("hg::*"), "", "", true, ""},
           Row{"the settings of the checkout", setting("hg::*"), "", "", "", false, ""},
           Row{"the settings of the checkout, in CI", setting("hg::*"), "", "", "", true, not_in_base},
           Row{"both settings, in CI", setting("hg::*"), setting("hg::*"), "", "", true, ""},
           Row{"another host", "", "", "hg::https://hg.example.com/*", "", false, refused},
           Row{"a part of the address", "", "", "hg.example.test", "", false, refused},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write(".tofu-modlock.hcl", row.checkout);
      set_user(row.user);
      environment["CI"] = row.in_ci ? "true" : "";
      environment["TOFU_MODLOCK_UNLOCKED_SOURCES"] = row.variable;
      for (std::vector<std::string> command : {std::vector<std::string>{"lock", "--frozen"}, {"verify"}, {"ci"}}) {
        if (*row.flag != 0) {
          command.insert(command.end(), {"--unlocked-sources", row.flag});
        }
        check(command, row.refused.empty() ? 0 : 3, row.refused.empty() ? kAllowed : row.refused);
      }
    }
  }
}

// A change cannot allow its own calls.
BOOST_AUTO_TEST_CASE(in_ci_the_base_allows_a_call) {
  environment["CI"] = "true";
  const std::string git = "git -c user.name=a -c user.email=a@b ";
  const std::string not_in_base = "in CI the revision of --base must have this glob too";
  struct Row {
    const char* name;
    std::string before;  // the setting at the base
    std::string now;
    std::string settings;  // the file
    const char* base;
    int exit_code;
    std::string err;  // a part
  };
  for (const Row& row : {
           Row{"in both", setting("hg::*"), setting("hg::*"), ".tofu-modlock.hcl", "base", 0, kAllowed},
           Row{"in both, above the root", setting("hg::*"), setting("hg::*"), "../.tofu-modlock.hcl", "base", 0,
               kAllowed},
           Row{"with other lines", setting("hg::*"), "# more\nresolution = \"auto\"\n" + setting("hg::*"),
               ".tofu-modlock.hcl", "base", 0, kAllowed},
           Row{"only in the change", "", setting("hg::*"), ".tofu-modlock.hcl", "base", 3, not_in_base},
           Row{"widened by the change", setting("hg::https://other/*"), setting("hg::*"), ".tofu-modlock.hcl", "base",
               3, not_in_base},
           Row{"without a base", setting("hg::*"), setting("hg::*"), ".tofu-modlock.hcl", "", 3, not_in_base},
           Row{"removed by the change", setting("hg::*"), "", ".tofu-modlock.hcl", "base", 3,
               "module \"h\" is not locked"},
           Row{"an unknown base", setting("hg::*"), setting("hg::*"), ".tofu-modlock.hcl", "none", 2, "none"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(path(".git"));
      fs::remove(path(".tofu-modlock.hcl"));
      write(".tofu-modlock.hcl", "");
      write(row.settings, row.before);
      BOOST_REQUIRE(program({"sh", "-c",
                             "git init -q .. && git add -f . ../.tofu-modlock.hcl 2>/dev/null || git add -f . && " +
                                 git + "commit -qm 1 && git branch base"})
                        .exit_code == 0);
      write(row.settings, row.now);
      for (std::vector<std::string> command : {std::vector<std::string>{"lock", "--frozen"}, {"verify"}, {"ci"}}) {
        if (*row.base != 0) {
          command.insert(command.end(), {"--base", row.base});
        }
        check(command, row.exit_code, row.err);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(only_kinds_without_a_backend_need_no_lock) {
  write(".tofu-modlock.hcl", setting("*"));
  call(module_call("dns", "git::" + vpc.url()));
  for (const char* command : {"lock --frozen", "verify", "ci", "install"}) {
    const Ran ran = program({"sh", "-c", "\"$0\" " + std::string(command), binary});
    BOOST_TEST(ran.exit_code == 3, command << ran.err);
    BOOST_TEST(ran.out.find("module.dns") + ran.err.find("module.dns") != std::string::npos, ran.out << ran.err);
    BOOST_TEST(ran.err.find("as allowed") == std::string::npos, ran.err);
  }
}

BOOST_AUTO_TEST_CASE(an_address_with_a_plainer_spelling_is_not_allowed) {
  call(module_call("h", "hg::https://hg.example.test/team/%2e%2e/net"));
  write(".tofu-modlock.hcl", setting("hg::https://hg.example.test/team/*"));
  for (const char* command : {"verify", "ci"}) {
    BOOST_TEST(modlock({command}).exit_code == 3, command);
  }
}

BOOST_AUTO_TEST_CASE(each_call_is_named_also_inside_of_packages) {
  release(vpc, "1.1.0", {{"main.tf", module_call("deep", "hg::https://hg.example.test/deep")}});
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.1.0") + module_call("h", kSource));
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  const Json::Value error = json({"lock", "--frozen"}, 3)["error"];
  BOOST_TEST(error["data"]["code"].asString() == "FROZEN");
  BOOST_TEST(error["data"]["subject"].asString() == "module.h");
  BOOST_TEST(error["data"]["related"][0]["message"].asString() ==
             "module \"vpc.deep\" is not locked: hg sources are not supported (\"hg::https://hg.example.test/deep\")");
  write(".tofu-modlock.hcl", setting(kSource));
  check({"verify"}, 3, "module \"vpc.deep\" is not locked");
  write(".tofu-modlock.hcl", setting("hg::*"));
  const std::string both =
      "Warning: 2 calls are not locked, as allowed: module.h, module.vpc.deep; calls inside them are not checked";
  for (const char* command : {"lock", "install", "verify", "ci"}) {
    check({command}, 0, both);
  }
  BOOST_TEST(json({"install", "--json"})["unlocked"] == parse_json("[\"h\", \"vpc.deep\"]").value());
}

BOOST_AUTO_TEST_CASE(a_client_in_ci_downloads_allowed_calls_only) {
  struct Row {
    const char* name;
    bool has_call;
    const char* flags;
  };
  write(".tofu-modlock.hcl", setting("hg::*"));
  for (const Row& row : {Row{"allowed", true, "-lockfile=readonly -input=false"},
                         Row{"no such call", false, "-get=false -lockfile=readonly -input=false"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      call(row.has_call ? module_call("h", kSource) : "");
      const Ran ran = modlock({"ci", "--", "client", "init"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(ran.out.ends_with("client: init [" + std::string(row.flags) + "]\n"), ran.out);
      BOOST_TEST(has(".terraform/tofu-modlock/unlocked") == row.has_call);
    }
  }
}

// The client has downloaded it: it may hold anything, and what else is there is compared as before.
BOOST_AUTO_TEST_CASE(what_the_client_downloaded_is_not_looked_at) {
  write(".tofu-modlock.hcl", setting("hg::*"));
  write(".terraform/modules/h/main.tf", module_call("inner", "git::" + vpc.url()));
  const std::string record = std::string(R"({"Key":"h","Source":")") + kSource + R"(","Dir":".terraform/modules/h"},)";
  std::string manifest = read(".terraform/modules/modules.json");
  manifest.insert(manifest.find('[') + 1, record);
  write(".terraform/modules/modules.json", manifest);
  for (const char* command : {"verify", "install", "ci", "lock"}) {
    check({command}, 0, kAllowed);
  }
  BOOST_TEST(has(".terraform/modules/h/main.tf"));
  BOOST_TEST(lock().find("inner") == std::string::npos);
  write(".terraform/modules/vpc/main.tf", "# changed\n");
  BOOST_TEST(modlock({"verify"}).exit_code == 4);
}

BOOST_AUTO_TEST_CASE(outside_of_the_checks_a_call_is_a_warning) {
  const std::string warning = "Warning: module \"h\" is not locked: hg sources are not supported";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"lock"}, {"install"}, {"upgrade"}, {"mirror", "--", "true"}}) {
    check(command, 0, warning);
  }
  const Ran sbom = modlock({"sbom"});
  BOOST_TEST(sbom.exit_code == 0);
  BOOST_TEST(sbom.err ==
             "Not in the SBOM, because it is not locked: module.h (hg::https://hg.example.test/team/net)\n");
  BOOST_TEST(parse_json(sbom.out).value()["components"].size() == 1U);
  const Ran bundle = modlock({"bundle", "create", "-o", path("bundle.tar").string()});
  BOOST_TEST(bundle.exit_code == 0, bundle.err);
  BOOST_TEST(bundle.err.starts_with(warning), bundle.err);
}

BOOST_AUTO_TEST_CASE(strict_reports_allowed_calls_too) {
  write(".tofu-modlock.hcl", setting("hg::*"));
  check({"verify", "--strict"}, 3, "module \"h\" is not locked");
}

// Somebody with the backend has locked it.
BOOST_AUTO_TEST_CASE(an_entry_of_another_machine_is_a_lock) {
  write(".terraform.lock.hcl",
        lock() + "\nmodule \"h\" {\n  source = \"" + kSource +
            "\"\n\n  hashes = [\n    \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",\n  ]\n}\n");
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).out.find("missing   module.h") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_client_downloads_an_allowed_call_and_nothing_else, *needs("hg, tofu or terraform")) {
  for (const std::string& client : clients()) {
    BOOST_TEST_CONTEXT(client) {
      Unlocked scene;
      const std::string hg = scene.path("hg").string();
      BOOST_REQUIRE(scene
                        .program({"sh", "-c",
                                  "hg init " + hg + " && cd " + hg +
                                      " && echo 'output \"x\" { value = 1 }' > main.tf && hg --config "
                                      "ui.username=a commit -qAm x"})
                        .exit_code == 0);
      scene.call(module_call("h", "hg::file://" + hg));
      scene.write(".tofu-modlock.hcl", setting("hg::file://" + hg));
      scene.environment["TOFU_MODLOCK_IMPLEMENTATION"] = client == "tofu" ? "opentofu" : client;
      BOOST_REQUIRE(scene.modlock({"lock"}).exit_code == 0);
      fs::rename(scene.vpc.path(), scene.path("moved away"));
      const Ran ran = scene.modlock({"ci", "--", client, "init", "-no-color"});
      BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
      BOOST_TEST(scene.has(".terraform/modules/h/main.tf"));
      BOOST_TEST(scene.has(".terraform/modules/vpc/main.tf"));
    }
  }
}

}  // namespace
}  // namespace modlock::test
