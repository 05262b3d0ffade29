// Providers of a module tree, from outside: locked together with the modules, and left alone by a stock client.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <regex>

#include "tests/e2e/scene.h"
#include "tests/support/needs.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {
namespace {

const std::vector<std::string> kPlatforms = {"darwin_arm64", "linux_amd64"};

struct Providers : Scene {
  Providers() : vpc(repository("vpc.git")) {
    publish("1.0.0");
    publish("1.1.0");
    publish("2.0.0");
    release(vpc, "1.0.0", {{"versions.tf", required_cloud("< 2.0.0")}});
    write("main.tf", required_cloud("~> 1.0") + module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    use("opentofu");
    name_text(registry.authority(), "<registry>");
  }

  void publish(const std::string& version) {
    registry.publish({.name = "acme/cloud", .version = version, .platforms = kPlatforms});
  }

  void use(const std::string& implementation) {
    host = implementation == "terraform" ? "registry.terraform.io" : "registry.opentofu.org";
    write_text(path("tofurc"), registry.host_block(host));
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = implementation;
    environment["TOFU_MODLOCK_IMPLEMENTATION_VERSION"] = implementation == "terraform" ? "1.11.4" : "1.12.6";
  }

  std::string block(const std::string& version, const std::string& constraints,
                    const std::vector<std::string>& platforms = {"linux_amd64"}) const {
    std::vector<std::string> hashes;
    for (const std::string& platform : platforms) {
      hashes.push_back(registry.archive("acme/cloud", version, platform).h1);
    }
    const std::string checksums = registry.checksums("acme/cloud", version);
    for (std::size_t at = 0; at < checksums.size(); at = checksums.find('\n', at) + 1) {
      hashes.push_back("zh:" + checksums.substr(at, 64));
    }
    std::sort(hashes.begin(), hashes.end());
    std::string text = fmt::format(
        "\nprovider \"{}/acme/cloud\" {{\n  version     = \"{}\"\n  constraints = \"{}\"\n"
        "  hashes = [\n",
        host, version, constraints);
    for (const std::string& hash : hashes) {
      text += fmt::format("    \"{}\",\n", hash);
    }
    return text + "  ]\n}\n";
  }

  std::string provider_part() const { return lock().substr(lock().find("\nprovider ")); }

  ProviderRegistry registry;
  GitRepository& vpc;
  std::string host;
};

BOOST_FIXTURE_TEST_SUITE(lock_providers, Providers)

BOOST_AUTO_TEST_CASE(modules_and_providers_in_one_edit) {
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out ==
             "module.vpc                                 1.0.0  (~> 1.0)\n"
             "provider.registry.opentofu.org/acme/cloud  1.1.0  (~> 1.0, < 2.0.0)  signed, key ID " +
                 registry.key().id() +
                 "\n\ntofu-modlock has created the lock file .terraform.lock.hcl to record the selected versions.\n"
                 "Include this file in version control, so that everyone gets the same modules and providers.\n"
                 "The module locks are inline: for repositories in which everyone runs the wrapper, the hooks or ci,\n"
                 "because a bare client drops the locks when it changes providers. If someone runs it, use the\n"
                 "sidecar, one more file to commit:\n"
                 "  echo 'module_lock_file = \"sidecar\"' >> .tofu-modlock.hcl && tofu-modlock lock\n"
                 "Next: run tofu-modlock install, then tofu init.\n");
  BOOST_TEST(provider_part() == block("1.1.0", "~> 1.0, < 2.0.0"));
  BOOST_TEST(lock().find("\nmodule \"vpc\"") < lock().find("\nprovider "));
}

BOOST_AUTO_TEST_CASE(a_second_lock_asks_nobody) {
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  age_lock();
  registry.forget_requests();
  publish("1.2.0");
  BOOST_TEST(modlock({"lock"}).out == "The lock file is up to date.\n");
  BOOST_TEST(registry.requests().total() == 0);
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
  BOOST_TEST(modlock({"lock", "--offline"}).exit_code == 0);
  BOOST_TEST(lock_is_aged());
}

BOOST_AUTO_TEST_CASE(platforms_of_flags_and_settings) {
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + "platforms = [\"darwin_arm64\", \"linux_amd64\"]\n");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(provider_part() == block("1.1.0", "~> 1.0, < 2.0.0", kPlatforms));
  std::filesystem::remove(root() / ".terraform.lock.hcl");
  BOOST_TEST(modlock({"lock", "--platform", "darwin_arm64"}).exit_code == 0);
  BOOST_TEST(provider_part() == block("1.1.0", "~> 1.0, < 2.0.0", {"darwin_arm64"}));
  BOOST_TEST(
      modlock({"lock", "--hashes", "init", "--platform", "darwin_arm64", "--platform", "linux_amd64"}).exit_code == 2);
  BOOST_TEST(modlock({"lock", "--hashes", "providers-lock", "--platform", "linux_amd64"}).exit_code == 0);
  BOOST_TEST(provider_part() == block("1.1.0", "~> 1.0, < 2.0.0", kPlatforms));
}

BOOST_AUTO_TEST_CASE(modules_alone_and_providers_alone) {
  BOOST_TEST(modlock({"lock", "--include", "modules"}).exit_code == 0);
  BOOST_TEST(registry.requests().total() == 0);
  BOOST_TEST(lock().find("\nprovider ") == std::string::npos);
  const std::string modules = lock();
  release(vpc, "1.0.1");
  BOOST_TEST(modlock({"upgrade", "--include", "providers"}).exit_code == 0);
  BOOST_TEST(lock() == modules + block("1.1.0", "~> 1.0, < 2.0.0"));
}

BOOST_AUTO_TEST_CASE(the_flag_is_for_modules_and_providers) {
  BOOST_TEST(modlock({"lock", "--include", "modules"}).exit_code == 0);
  const std::vector<std::string> with_age = {"lock", "--include", "providers", "--minimum-release-age", "72h"};
  const Ran ran = modlock(with_age);
  BOOST_TEST(ran.exit_code == 6);
  BOOST_TEST(ran.err.find("all matching versions of provider registry.opentofu.org/acme/cloud are newer than "
                          "minimum_release_age (3d): ") != std::string::npos,
             ran.err);
  let_pass(73);
  BOOST_TEST(modlock(with_age).exit_code == 0);
  BOOST_TEST(provider_part() == block("1.1.0", "~> 1.0, < 2.0.0"));
}

BOOST_AUTO_TEST_CASE(frozen_names_what_is_missing) {
  BOOST_TEST(modlock({"lock", "--include", "modules"}).exit_code == 0);
  age_lock();
  const Ran ran = modlock({"lock", "--frozen"});
  BOOST_TEST(ran.exit_code == 3);
  BOOST_TEST(
      ran.err.find(".terraform.lock.hcl does not match the configuration: provider.registry.opentofu.org/acme/cloud "
                   "(the root module needs it and it is not locked)") != std::string::npos,
      ran.err);
  BOOST_TEST(lock_is_aged());
  BOOST_TEST(registry.requests().total() == 0);
}

// OpenTofu's init -lockfile=readonly refuses it, whatever is locked; nothing is to be gained by locking again.
BOOST_AUTO_TEST_CASE(frozen_says_what_locking_does_not_help) {
  registry.publish({.name = "hashicorp/old", .version = "1.0.0", .platforms = kPlatforms});
  write_text(path("tofurc"), registry.host_block(host) + registry.host_block("registry.terraform.io"));
  write(".tofu-modlock.hcl", "");
  write("main.tf",
        "terraform {\n  required_providers {\n    old = {\n      source = \"registry.terraform.io/hashicorp/old\"\n"
        "    }\n  }\n}\n");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  const Ran frozen = modlock({"lock", "--frozen"});
  BOOST_TEST(frozen.exit_code == 3);
  BOOST_TEST(
      frozen.err ==
      "Error: .terraform.lock.hcl does not match the configuration: provider.registry.opentofu.org/hashicorp/old "
      "(OpenTofu also uses the entry of registry.terraform.io/hashicorp/old for this provider, which is not needed, "
      "and its init -lockfile=readonly rejects that; the source hashicorp/old avoids it) [FROZEN]\n"
      "  hint: change the source; running lock again cannot fix this\n");
}

BOOST_AUTO_TEST_CASE(a_requirement_that_comes_back_is_new) {
  const std::string requiring = required_cloud("~> 1.0");
  write(".tofu-modlock.hcl", "");
  write("main.tf", requiring);
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(provider_part() == block("1.1.0", "~> 1.0"));
  write("main.tf", "");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(lock().find("provider ") == std::string::npos, lock());
  publish("1.2.0");
  write("main.tf", requiring);
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(provider_part() == block("1.2.0", "~> 1.0"));
}

BOOST_AUTO_TEST_CASE(an_excluded_version_waits_for_an_upgrade) {
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  write("main.tf", required_cloud("< 1.1.0") + module_call("vpc", "git::" + vpc.url()));
  release(vpc, "1.0.1");
  age_lock();
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 6);
  BOOST_TEST(
      ran.err.find("locked provider registry.opentofu.org/acme/cloud 1.1.0 does not match configured version "
                   "constraint < 1.1.0, < 2.0.0; must use tofu init -upgrade to allow selection of new versions") !=
          std::string::npos,
      ran.err);
  BOOST_TEST(
      ran.err.find("tofu-modlock upgrade --target provider.registry.opentofu.org/acme/cloud") != std::string::npos,
      ran.err);
  BOOST_TEST(lock_is_aged());
  const Json::Value changes = json({"upgrade", "--target", "provider.acme/cloud"})["changes"];
  BOOST_REQUIRE(changes.size() == 1U);
  BOOST_TEST(changes[0]["subject"].asString() == "provider.registry.opentofu.org/acme/cloud");
  BOOST_TEST(changes[0]["action"].asString() == "updated");
  BOOST_TEST(provider_part() == block("1.0.0", "< 1.1.0, < 2.0.0"));
  BOOST_TEST(modlock({"upgrade", "--target", "provider.acme/other"}).exit_code == 2);
}

BOOST_AUTO_TEST_CASE(a_replaced_release_changes_nothing) {
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  age_lock();
  registry.publish({.name = "acme/cloud",
                    .version = "1.1.0",
                    .platforms = kPlatforms,
                    .entries = {{.name = "README.md", .content = "other\n"}}});
  const Ran ran = modlock({"lock", "--hashes", "init"});
  BOOST_TEST(ran.exit_code == 4);
  BOOST_TEST(ran.err.find("the current package for registry.opentofu.org/acme/cloud 1.1.0 doesn't match any of the "
                          "checksums previously recorded in the dependency lock file") != std::string::npos,
             ran.err);
  BOOST_TEST(lock_is_aged());
}

BOOST_AUTO_TEST_CASE(contradictions_are_named) {
  write("main.tf", required_cloud(">= 2.0.0") + module_call("vpc", "git::" + vpc.url()));
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 6);
  BOOST_TEST(ran.err.find("CONSTRAINT_CONFLICT") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("the root module requires \">= 2.0.0\"") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("module \"vpc\" requires \"< 2.0.0\"") != std::string::npos, ran.err);
  BOOST_TEST(!has(".terraform.lock.hcl"));
}

BOOST_AUTO_TEST_CASE(a_provider_is_explained) {
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  const Ran ran = modlock({"explain", "provider.acme/cloud"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  const std::string out = std::regex_replace(ran.out, std::regex("first seen  20[0-9TZ:-]+"), "first seen  <time>");
  BOOST_TEST(out ==
             "provider.acme/cloud  1.1.0\n"
             "  source      acme/cloud\n"
             "  first seen  <time>\n"
             "  because     it was selected for \"~> 1.0, < 2.0.0\" when it was locked, and the constraints allow it\n"
             "\n"
             "  ~> 1.0  at main.tf:5:17\n"
             "    keeps 1.1.0, 1.0.0\n"
             "    rejects 2.0.0: \"~> 1.0\" excludes it\n"
             "\n"
             "  < 2.0.0  module.vpc  at .terraform/modules/vpc/versions.tf:5:17\n"
             "    keeps 1.1.0, 1.0.0\n"
             "\n"
             "  locked: 1.1.0  at .terraform.lock.hcl:16:1\n"
             "    keeps 1.1.0\n"
             "    rejects 1.0.0: older\n");
}

BOOST_AUTO_TEST_CASE(a_stock_client_has_nothing_to_write, *needs("tofu or terraform")) {
  for (const std::string& client : clients()) {
    BOOST_TEST_CONTEXT(client) {
      use(client == "terraform" ? "terraform" : "opentofu");
      for (const char* name : {".terraform.lock.hcl", ".terraform"}) {
        std::filesystem::remove_all(root() / name);
      }
      const Ran ran = modlock({"lock", "--install"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      age_lock();
      const Ran init = program({client, "init", "-no-color", "-input=false", "-lockfile=readonly"});
      BOOST_TEST(init.exit_code == 0, init.out << init.err);
      BOOST_TEST(init.out.find("not updated") == std::string::npos, init.out);
      const Ran writable = program({client, "init", "-no-color", "-input=false"});
      BOOST_TEST(writable.exit_code == 0, writable.out << writable.err);
      BOOST_TEST(lock_is_aged());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
