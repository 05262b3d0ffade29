// Signatures that the settings demand, from outside.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "backends/base/process.h"
#include "tests/e2e/scene.h"
#include "tests/support/needs.h"
#include "tests/support/signing_keys.h"

namespace modlock::test {
namespace {

// A call of a repository whose v1.0.0 is signed by "release", its v1.1.0 by "stranger", and its v1.2.0 not at all.
struct Demanding : Scene {
  Demanding() : vpc(repository("vpc.git")), keys(path("keys")) {
    user = keys.ssh_key("release");
    stranger = keys.ssh_key("stranger");
    name_text(keys.ssh_fingerprint("release"), "<key>");
    for (const auto& [version, key] : {std::pair{"1.0.0", "release"}, {"1.1.0", "stranger"}, {"1.2.0", ""}}) {
      release(vpc, version);
      if (*key != '\0') {
        keys.sign_tag(vpc, fmt::format("v{}", version), fmt::format("v{}", version), key);
      }
    }
    BOOST_REQUIRE(program({"git", "init", "--quiet"}).exit_code == 0);
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    demand_of_user(user);
  }
  void demand_of_user(const std::string& signers) const {
    write_text(path("home/.config/tofu-modlock/signers"), signers);
    write_text(path("home/.config/tofu-modlock/config.hcl"), rule());
  }
  // Constrains the call, and demands the keys of "signers" of the checkout.
  void constrain(const std::string& version, bool demands = false) const {
    write(".tofu-modlock.hcl", module_rule("vpc", version) + (demands ? rule() : ""));
  }
  static std::string rule() { return "source \"git::file://*\" {\n  signed_by_ssh = \"signers\"\n}\n"; }
  static std::string invalid(const std::string& object, const std::string& why) {
    return fmt::format("Error: the {} of \"git::file://<dir>/repositories/vpc.git\" has no valid signature: {} ",
                       object, why);
  }

  GitRepository& vpc;
  SigningKeys keys;
  std::string user;
  std::string stranger;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(signed_tags, Demanding, *needs("ssh-keygen"))

BOOST_AUTO_TEST_CASE(only_signed_releases_are_locked) {
  struct Row {
    const char* name;
    std::string version;
    std::string error;  // empty: locked
  };
  for (const Row& row : {
           Row{"not signed", "1.2.0", invalid("tag \"v1.2.0\"", "it is a lightweight tag, which has none")},
           Row{"wrong key", "1.1.0", invalid("tag \"v1.1.0\"", "its key is not in signers")},
           Row{"good", "1.0.0", ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      constrain(row.version);
      const Ran ran = modlock({"lock"});
      BOOST_TEST(ran.exit_code == (row.error.empty() ? 0 : 4), ran.err);
      BOOST_TEST(ran.err.find(row.error) != std::string::npos, ran.err);
      BOOST_TEST(has(".terraform.lock.hcl") == row.error.empty());
    }
  }
  const Ran why = modlock({"why", "module.vpc"});
  BOOST_TEST(why.out.find("  signed by   release@example.com (ED25519 key <key>)\n") != std::string::npos, why.out);
  const Json::Value explained = json({"why", "module.vpc", "--json"});
  BOOST_TEST(explained["selected"]["signers"][0].asString() == "release@example.com (ED25519 key <key>)");
  constrain(">= 1.0");
  const Ran upgraded = modlock({"upgrade"});
  BOOST_TEST(upgraded.exit_code == 4, upgraded.err);
  BOOST_TEST(lock().find("version = \"1.0.0\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(references_that_a_call_names_are_verified) {
  const std::string by_key = keys.sign_commit(vpc, "main", "release");
  vpc.branch("signed", by_key);
  vpc.tag("v2.0.0", by_key);
  struct Row {
    const char* name;
    std::string ref;
    std::string object;
    std::string error;  // empty: locked
  };
  for (const Row& row : {
           Row{"tag", "?ref=v1.0.0", "tag", ""},
           Row{"lightweight tag", "?ref=v2.0.0", "tag",
               invalid("tag \"v2.0.0\"", "it is a lightweight tag, which has none")},
           Row{"tag of a signed commit", "?ref=v2.0.0", "commit", ""},
           Row{"tag of another commit", "?ref=v1.0.0", "commit", invalid("commit <1.0.0>", "it is not signed")},
           Row{"branch", "?ref=signed", "tag", ""},
           Row{"commit", "?ref=" + by_key, "tag", ""},
           Row{"default branch", "", "tag", invalid("commit <1.2.0>", "it is not signed")},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      std::filesystem::remove(root() / ".terraform.lock.hcl");
      write("main.tf", module_call("vpc", "git::" + vpc.url() + row.ref));
      write("signers", user);
      write(".tofu-modlock.hcl", fmt::format("source \"git::file://*\" {{\n  signed_by_ssh = \"signers\"\n  "
                                             "signed_object = \"{}\"\n}}\n",
                                             row.object));
      std::filesystem::remove(path("home/.config/tofu-modlock/config.hcl"));
      const Ran ran = modlock({"lock"});
      BOOST_TEST(ran.exit_code == (row.error.empty() ? 0 : 4), ran.err);
      BOOST_TEST(ran.err.find(row.error) != std::string::npos, ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(locked_releases_are_verified_again_only_online) {
  constrain("1.0.0");
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  BOOST_REQUIRE(modlock({"install"}).exit_code == 0);
  demand_of_user(stranger);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"lock"}, {"lock", "--frozen"}, {"lock", "--offline"}, {"install"}, {"verify"}}) {
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code == 0, command.front() + ": " + ran.err);
  }
  const Ran online = modlock({"verify", "--online"});
  BOOST_TEST(online.exit_code == 4);
  BOOST_TEST(online.err.find(invalid("tag \"v1.0.0\"", "its key is not in signers")) != std::string::npos, online.err);
  demand_of_user(user);
  const Ran good = modlock({"verify", "--online"});
  BOOST_TEST(good.exit_code == 0, good.err);
}

BOOST_AUTO_TEST_CASE(restored_entries_are_verified) {
  constrain("1.0.0");
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const std::string before = lock();
  std::filesystem::remove(root() / ".terraform.lock.hcl");
  demand_of_user(stranger);
  const Ran refused = modlock({"lock"});
  BOOST_TEST(refused.exit_code == 4, refused.err);
  BOOST_TEST(refused.err.find(invalid("tag \"v1.0.0\"", "its key is not in signers")) != std::string::npos,
             refused.err);
  BOOST_TEST(!has(".terraform.lock.hcl"));
  demand_of_user(user);
  const Ran restored = modlock({"lock"});
  BOOST_TEST(restored.exit_code == 0, restored.err);
  BOOST_TEST(restored.out.find("restored") != std::string::npos, restored.out);
  BOOST_TEST(lock() == before);
}

BOOST_AUTO_TEST_CASE(the_source_of_a_terragrunt_unit_is_verified_again_online) {
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  std::string text = lock();  // as the hook has it in the working directory of a unit
  text.replace(text.find("\"vpc\""), 5, "\"terragrunt:source\"");
  write(".terraform.lock.hcl", text);
  write("main.tf", "");
  const Ran good = modlock({"verify", "--online"});
  BOOST_TEST(good.exit_code == 0, good.err);
  demand_of_user(stranger);
  const Ran online = modlock({"verify", "--online"});
  BOOST_TEST(online.exit_code == 4);
  BOOST_TEST(online.err.find(invalid("tag \"v1.0.0\"", "its key is not in signers")) != std::string::npos, online.err);
}

BOOST_AUTO_TEST_CASE(a_checkout_adds_to_the_demand_of_its_user) {
  write("signers", stranger);
  constrain("1.1.0", true);
  const Ran replaced = modlock({"lock"});
  BOOST_TEST(replaced.exit_code == 4);
  BOOST_TEST(replaced.err.find(invalid("tag \"v1.1.0\"", "its key is not in signers")) != std::string::npos,
             replaced.err);
  constrain("1.0.0", true);
  BOOST_TEST(modlock({"lock"}).exit_code == 4);
  write("signers", user);
  const Ran both = modlock({"lock"});
  BOOST_TEST(both.exit_code == 0, both.err);
}

BOOST_AUTO_TEST_CASE(demands_of_all_files_and_spellings) {
  std::filesystem::remove(path("home/.config/tofu-modlock/config.hcl"));
  const std::string url = "git::" + vpc.url();
  const std::string plain = url.substr(0, url.size() - 4);
  write("signers", stranger);
  write("sub/signers", user);
  for (const auto& [glob, version, error] : std::initializer_list<std::tuple<std::string, const char*, const char*>>{
           {"git::file://*", "1.0.0", "its key is not in signers"},
           {"git::file://*", "1.1.0", "its key is not in signers"},
           {plain, "1.2.0", "it is a lightweight tag, which has none"},
           {"GIT::FILE://*VPC.git", "1.2.0", "it is a lightweight tag, which has none"},
       }) {
    BOOST_TEST_CONTEXT(glob + " " + version) {
      const std::string demand = fmt::format("source \"{}\" {{\n  signed_by_ssh = \"signers\"\n}}\n", glob);
      write(".tofu-modlock.hcl", demand);
      write("sub/.tofu-modlock.hcl", module_rule("vpc", version) + demand);
      write("sub/main.tf", module_call("vpc", url));
      const Ran ran = modlock({"lock", "sub"});
      BOOST_TEST(ran.exit_code == 4, ran.err);
      BOOST_TEST(ran.err.find(error) != std::string::npos, ran.err);
    }
  }
  write(".tofu-modlock.hcl", "");
  write("sub/.tofu-modlock.hcl", fmt::format("source \"{}\" {{\n  signed_by_ssh = \"signers\"\n}}\n", url));
  write("sub/main.tf", module_call("vpc", url + "?ref=v1.1.0"));
  const Ran reference = modlock({"lock", "sub"});
  BOOST_TEST(reference.exit_code == 4, reference.err);
  BOOST_TEST(reference.err.find("its key is not in signers") != std::string::npos, reference.err);
  write("sub/main.tf", module_call("vpc", "git::file:///." + vpc.url().substr(std::string("file://").size())));
  const Ran odd = modlock({"lock", "sub"});
  BOOST_TEST(odd.exit_code == 8, odd.err);
  BOOST_TEST(odd.err.find("is not written in its plain form") != std::string::npos, odd.err);
}

BOOST_AUTO_TEST_CASE(missing_keys_are_an_error_of_the_settings) {
  constrain("1.0.0", true);
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(ran.err.starts_with("Error: cannot read \"<dir>/root/signers\": No such file or directory [CONFIG_PARSE]\n"
                                 "  at .tofu-modlock.hcl:"),
             ran.err);
}

BOOST_AUTO_TEST_CASE(a_change_of_the_keys_of_a_checkout_is_a_warning) {
  write("signers", user);
  constrain("1.0.0", true);
  const Ran locked = modlock({"lock"});
  BOOST_TEST_REQUIRE(locked.exit_code == 0, locked.err);
  BOOST_TEST(locked.err.find("Warning") == std::string::npos, locked.err);
  write("signers", user + stranger);
  const std::string warning =
      "Warning: the keys in \"signers\" have changed since a signature of "
      "\"git::file://<dir>/repositories/vpc.git\" was last verified";
  const Ran first = modlock({"verify", "--online"});
  BOOST_TEST(first.err.find(warning) != std::string::npos, first.err);
  const Ran second = modlock({"verify", "--online"});
  BOOST_TEST(second.err.find(warning) == std::string::npos, second.err);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
