// Modules of a registry, from outside: listed, locked, installed, verified, and obeyed by a stock client.

#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/loopback.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"

using namespace modlock;
using namespace modlock::test;

namespace {

struct RegistryScene : Scene {
  RegistryScene() {
    write_text(path("tofurc"), registry.host_block(kRegistryHost));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    // Else no registry may lead there.
    write_text(path("home/.gitconfig"), "[protocol \"file\"]\n\tallow = always\n");
    name_text(registry.authority(), "<registry>");
  }

  // A version whose package is a tag of a git repository, in `subdir` of it.
  void publish(GitRepository& repository, const std::string& version, const GitRepository::Files& files = {},
               const std::string& subdir = {}) {
    release(repository, version, files);
    registry.add_version("acme/vpc/aws", version,
                         ModuleRegistry::by_header("git::file://" + repository.path().string() +
                                                   (subdir.empty() ? "" : "//" + subdir) + "?ref=v" + version));
  }

  void call(const std::string& version, const std::string& subdir = {}) {
    write("main.tf", module_call("vpc", std::string(kRegistryHost) + "/acme/vpc/aws" + subdir, version));
  }

  ModuleRegistry registry;
};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(registry, RegistryScene)

BOOST_AUTO_TEST_CASE(versions_are_listed_newest_first) {
  GitRepository& vpc = repository("vpc");
  for (const char* version : {"1.0.0", "1.2.0", "2.0.0-rc1"}) {
    publish(vpc, version);
  }
  const Ran ran = modlock({"versions", std::string(kRegistryHost) + "/acme/vpc/aws", "--constraint", "~> 1.0"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out == "* 1.2.0\n  1.0.0\n2 versions, 0 tags skipped.\n");
}

BOOST_AUTO_TEST_CASE(registry_module_is_locked_installed_and_verified) {
  GitRepository& vpc = repository("vpc");
  publish(vpc, "1.0.0");
  publish(vpc, "1.2.0");
  call("~> 1.0");
  const Ran locked = modlock({"lock"});
  BOOST_TEST(locked.exit_code == 0, locked.err);
  BOOST_TEST(locked.out.find("module.vpc  1.2.0  (~> 1.0)\n") == 0U, locked.out);
  BOOST_TEST(shown(lock()).find("module \"vpc\" {\n  version = \"1.2.0\"\n"
                                "  source  = \"registry.example.test/modules/acme/vpc/aws\"\n\n"
                                "  constraints = \"~> 1.0\"\n\n  hashes = [\n    \"git:<1.2.0>\",\n    \"h1:") !=
                 std::string::npos,
             shown(lock()));
  BOOST_TEST(joined(registry.lines()) ==
             "GET /v1/modules/acme/vpc/aws/versions\nGET /v1/modules/acme/vpc/aws/1.2.0/download\n");
  registry.forget_requests();
  const Ran installed = modlock({"install"});
  BOOST_TEST(installed.exit_code == 0, installed.err);
  BOOST_TEST(joined(registry.lines()) == "");
  BOOST_TEST(read(".terraform/modules/modules.json") ==
             "{\"Modules\":[{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"},{\"Key\":\"vpc\",\"Source\":"
             "\"registry.example.test/acme/vpc/aws\",\"Version\":\"1.2.0\",\"Dir\":\".terraform/modules/vpc\"}]}");
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  publish(vpc, "1.3.0");
  age_lock();
  BOOST_TEST(modlock({"lock"}).out == "The lock file is up to date.\n");
  BOOST_TEST(lock_is_aged());
  BOOST_TEST(joined(registry.lines()) == "");
}

// Beside our fields: `key`, `source` and `version` are those of the client.
BOOST_AUTO_TEST_CASE(format_of_terraform_modules_equals_the_client, *needs("terraform")) {
  GitRepository& vpc = repository("vpc");
  publish(vpc, "1.0.0",
          {{"sub/main.tf", module_call("dns", "git::" + vpc.url() + "//zone?ref=v1.0.0")},
           {"zone/main.tf", ""},
           {"main.tf", module_call("nested", "./sub")}});
  const std::string address = std::string(kRegistryHost) + "/acme/vpc/aws";
  write("main.tf", module_call("vpc", address, "~> 1.0") + module_call("sub", address + "//sub", "1.0.0") +
                       module_call("dns", "git::" + vpc.url() + "//zone") + module_call("local", "./local/../local") +
                       "module \"many\" {\n  source   = \"git::" + vpc.url() +
                       "?depth=1\"\n  for_each = toset([])\n}\n");
  write("local/main.tf", module_call("dns", "git::" + vpc.url() + "//sub?ref=v1.0.0"));
  write("main.tftest.hcl", "run \"setup\" {\n  module {\n    source = \"./local\"\n  }\n}\n");
  environment["TOFU_MODLOCK_IMPLEMENTATION"] = "terraform";
  const Ran locked = modlock({"lock", "--include", "modules", "--install"});
  BOOST_REQUIRE_MESSAGE(locked.exit_code == 0, locked.err);
  BOOST_REQUIRE(program({"terraform", "init", "-no-color", "-input=false"}).exit_code == 0);
  const Ran theirs = program({"terraform", "modules", "-json"});
  BOOST_REQUIRE_MESSAGE(theirs.exit_code == 0, theirs.err);
  const Ran ours = program({MODLOCK_WITHOUT_NETWORK, binary, "inspect", "--format", "terraform-modules"});
  BOOST_REQUIRE_MESSAGE(ours.exit_code == 0, ours.err);
  BOOST_TEST(ours.err == "");
  const auto records = [](const std::string& text) {
    std::multiset<std::string> found;
    const Json::Value document = parse_json(text).value();
    BOOST_TEST(document["format_version"].asString() == "1.0");
    for (const Json::Value& module : document["modules"]) {
      found.insert(
          fmt::format("{} {} {}", module["key"].asString(), module["source"].asString(), module["version"].asString()));
    }
    return found;
  };
  BOOST_TEST(records(ours.out) == records(theirs.out), boost::test_tools::per_element());
  BOOST_TEST(records(ours.out).count("sub " + address + "//sub 1.0.0") == 1U);
  std::string fields;
  const Json::Value document = parse_json(ours.out).value();
  for (const Json::Value& module : document["modules"]) {
    fields += fmt::format("{} {} {} {}\n", module["path"].asString(), module["sourceKind"].asString(),
                          module["locked"].asBool(), shown(module["commit"].asString()));
  }
  BOOST_TEST(fields ==
             "dns git true <1.0.0>\nlocal local false \nlocal.dns git true <1.0.0>\nlocal.dns.dns git true "
             "<1.0.0>\nmany git true <1.0.0>\n"
             "many.nested local false \nmany.nested.dns git true <1.0.0>\nsub registry true <1.0.0>\n"
             "sub.dns git true <1.0.0>\nvpc registry true <1.0.0>\nvpc.nested local false \n"
             "vpc.nested.dns git true <1.0.0>\n");
}

// Without the network an answer depends on the lock file and on what is installed, not on what this cache has heard of.
BOOST_AUTO_TEST_CASE(version_that_vanished_is_known_online_only) {
  GitRepository& vpc = repository("vpc");
  publish(vpc, "1.0.0");
  call("1.0.0");
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  registry.serve("/v1/modules/acme/vpc/aws/versions", {.status = 200, .body = R"({"modules":[{"versions":[]}]})"});
  BOOST_TEST(modlock({"versions", std::string(kRegistryHost) + "/acme/vpc/aws"}).exit_code == 0);
  const Ran online = modlock({"verify", "--online"});
  BOOST_TEST(online.exit_code == 5, online.out + online.err);
  BOOST_TEST(online.err.find("module.vpc: version 1.0.0 is no longer among the versions of "
                             "\"registry.example.test/modules/acme/vpc/aws\"; first seen there at 20") == 1U,
             online.err);
  const Ran offline = modlock({"verify"});
  BOOST_TEST(offline.exit_code == 0, offline.out + offline.err);
  std::filesystem::remove_all(root() / ".terraform");
  BOOST_TEST(modlock({"install"}).exit_code == 0, "it is in the cache");
}

BOOST_AUTO_TEST_CASE(module_lies_where_the_registry_says) {
  publish(repository("vpc"), "1.0.0",
          {{"modules/net/inner/main.tf", "module \"leaf\" {\n  source = \"../leaf\"\n}\n"},
           {"modules/net/leaf/main.tf", "output \"x\" {\n  value = 1\n}\n"}},
          "modules/net");
  call("1.0.0", "//inner");
  for (const char* step : {"lock", "install", "verify"}) {
    const Ran ran = modlock({step});
    BOOST_TEST(ran.exit_code == 0, step << ": " << ran.err);
  }
  const std::string manifest = read(".terraform/modules/modules.json");
  BOOST_TEST(manifest.find("\"Dir\":\".terraform/modules/vpc/modules/net/inner\"") != std::string::npos, manifest);
  BOOST_TEST(manifest.find(
                 "\"Key\":\"vpc.leaf\",\"Source\":\"../leaf\",\"Dir\":\".terraform/modules/vpc/modules/net/leaf\"") !=
                 std::string::npos,
             manifest);
  std::filesystem::remove_all(cache());
  registry.forget_requests();
  const Ran again = modlock({"install"});
  BOOST_TEST(again.exit_code == 0, again.err);
  BOOST_TEST(joined(registry.lines()) == "GET /v1/modules/acme/vpc/aws/1.0.0/download\n");
  BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
}

// The trees of a package that a registry names are those of its git repository. The bundle also has the directory.
BOOST_AUTO_TEST_CASE(bundled_module_of_a_registry_is_proven_by_its_commit) {
  publish(repository("vpc"), "1.0.0", {{"nested/main.tf", ""}}, "nested");
  call("1.0.0");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(modlock({"bundle", "create", "--output", path("modules").string()}).exit_code == 0);
  std::filesystem::remove_all(cache());
  std::filesystem::rename(repositories(), path("elsewhere"));
  for (const char* run : {"from the bundle", "from the cache and the bundle"}) {
    BOOST_TEST_CONTEXT(run) {
      const Ran installed = modlock({"install", "--offline", "--from", path("modules").string()});
      BOOST_TEST(installed.exit_code == 0, installed.err);
      BOOST_TEST(read(".terraform/modules/modules.json").find("modules/vpc/nested") != std::string::npos);
      BOOST_TEST(std::filesystem::exists(cache() / "v2/proven"));
      std::filesystem::remove_all(root() / ".terraform");
    }
  }
}

BOOST_AUTO_TEST_CASE(missing_cache_is_filled_with_exactly_what_was_locked) {
  GitRepository& vpc = repository("vpc");
  publish(vpc, "1.0.0");
  call("~> 1.0");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  publish(vpc, "1.1.0");
  std::filesystem::remove_all(cache());
  registry.forget_requests();
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(joined(registry.lines()) == "GET /v1/modules/acme/vpc/aws/1.0.0/download\n");
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(another_commit_for_a_locked_version_is_refused) {
  GitRepository& vpc = repository("vpc");
  publish(vpc, "1.0.0");
  call("1.0.0");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  GitRepository& other = repository("other");
  release(other, "1.0.0", {{"main.tf", "# not what was locked\n"}});
  registry.serve("/v1/modules/acme/vpc/aws/1.0.0/download",
                 ModuleRegistry::by_header("git::file://" + other.path().string() + "?ref=v1.0.0"));
  std::filesystem::remove_all(cache());
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 4, ran.err);
  BOOST_TEST(!has(".terraform/modules/vpc"));
}

BOOST_AUTO_TEST_CASE(denied_answer_of_a_registry_is_not_followed) {
  publish(repository("vpc"), "1.0.0");
  call("1.0.0");
  write(".tofu-modlock.hcl", "deny_sources = [\"git::file://*\"]\n");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(ran.err.find("[SOURCE_DENIED]") != std::string::npos, ran.err);
  BOOST_TEST(!has(".terraform.lock.hcl"));
}

BOOST_AUTO_TEST_CASE(registry_must_not_lead_to_this_machine) {
  GitRepository& vpc = repository("vpc");
  release(vpc, "1.0.0");
  std::filesystem::remove(path("home/.gitconfig"));
  call("1.0.0");
  const std::string local = repositories().string() + "/vpc";
  write_text(path("page/main.tf"), "# private\n");
  struct Row {
    std::string location;
    std::string expected;
  };
  for (const Row& row : {
           Row{"git::file://" + local + "?ref=v1.0.0",
               "the repository \"git::file://<dir>/repositories/vpc\" is on this "
               "machine, and a server must not redirect to it [SOURCE_DENIED]"},
           Row{"file://" + path("page").string(),
               "\"file://<dir>/page\" is on this machine, and a server must not redirect to it "
               "[SOURCE_DENIED]"},
           Row{"hg::file://" + local,
               "\"hg::file://<dir>/repositories/vpc\" is on this machine, and a server must not redirect to it "
               "[SOURCE_DENIED]"},
           Row{"git::" + local, "SOURCE_DENIED"},
       }) {
    BOOST_TEST_CONTEXT(row.location) {
      registry.add_version("acme/vpc/aws", "1.0.0", ModuleRegistry::by_header(row.location));
      const Ran ran = modlock({"lock"});
      BOOST_TEST(ran.exit_code == 8);
      BOOST_TEST(ran.err.find(row.expected) != std::string::npos, ran.err);
      BOOST_TEST(!has(".terraform.lock.hcl"));
    }
  }
}

BOOST_AUTO_TEST_CASE(token_goes_to_the_registry_and_nowhere_else) {
  publish(repository("vpc"), "1.0.0");
  call("1.0.0");
  registry.require_token("/v1/", "canary-token");
  const Ran refused = modlock({"lock"});
  BOOST_TEST(refused.exit_code == 7);
  BOOST_TEST(refused.err.find("[AUTH_REQUIRED]") != std::string::npos, refused.err);
  BOOST_TEST(refused.err.find("TF_TOKEN_registry_example_test") != std::string::npos, refused.err);
  environment["TF_TOKEN_registry_example_test"] = "canary-token";
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  for (const std::string& text : {ran.out, ran.err, lock()}) {
    BOOST_TEST(text.find("canary") == std::string::npos, text);
  }
}

BOOST_AUTO_TEST_CASE(cli_configuration_that_cannot_be_read_is_warned_of) {
  publish(repository("vpc"), "1.0.0");
  call("1.0.0");
  environment.erase("TF_CLI_CONFIG_FILE");
  write_text(path("home/.tofurc"), registry.host_block(kRegistryHost));
  write_text(path("home/.terraform.d/broken.tfrc"), "credentials \"x.example\" {\n  token = \"canary\n}\n");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err.find("[CONFIG_PARSE]") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("canary") == std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(cli_configuration_that_cannot_be_read_explains_a_refusal) {
  publish(repository("vpc"), "1.0.0");
  call("1.0.0");
  registry.require_token("/v1/", "canary-token");
  environment.erase("TF_CLI_CONFIG_FILE");
  write_text(path("home/.tofurc"), registry.host_block(kRegistryHost));
  write_text(path("home/.terraform.d/broken.tfrc"), "credentials \"x.example\" {\n  token = \"canary\n}\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"lock"}, {"versions", std::string(kRegistryHost) + "/acme/vpc/aws"}}) {
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code == 7);
    BOOST_TEST(ran.err.find("[AUTH_REQUIRED]") != std::string::npos, ran.err);
    BOOST_TEST(ran.err.find("broken.tfrc") != std::string::npos, ran.err);
    BOOST_TEST(ran.err.find("canary") == std::string::npos, ran.err);
  }
}

BOOST_AUTO_TEST_CASE(registry_is_asked_again_as_often_as_the_client_would) {
  struct Row {
    const char* name;
    const char* variable;  // TF_REGISTRY_DISCOVERY_RETRY
    const char* block;
    int times;
    int exit_code;
    std::size_t requests;
  };
  publish(repository("vpc"), "1.0.0");
  for (const Row& row : {
           Row{"once more", "", "", 1, 0, 2},
           Row{"no more than once", "", "", 2, 7, 2},
           Row{"the variable", "3", "", 3, 0, 4},
           Row{"the CLI configuration", "", "registry_protocols {\n  retry_count = 2\n}\n", 2, 0, 3},
           Row{"the variable before the CLI configuration", "1", "registry_protocols {\n  retry_count = 2\n}\n", 2, 7,
               2},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      std::filesystem::remove_all(cache());
      registry.forget_requests();
      write_text(path("tofurc"), registry.host_block(kRegistryHost) + row.block);
      environment["TF_REGISTRY_DISCOVERY_RETRY"] = row.variable;
      const std::string listing = "/v1/modules/acme/vpc/aws/versions";
      registry.fault(listing, {.status = 502}, row.times);
      const Ran ran = modlock({"versions", std::string(kRegistryHost) + "/acme/vpc/aws"});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(registry.lines().size() == row.requests);
      registry.fault(listing, {.status = 502}, 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(registry_that_says_nothing_is_waited_for_as_long_as_the_client_would) {
  const SilentServer silent;
  write_text(path("tofurc"), "registry_protocols {\n  retry_count = 0\n}\nhost \"" + std::string(kRegistryHost) +
                                 "\" {\n  services = { \"modules.v1\" = \"http://127.0.0.1:" +
                                 std::to_string(silent.port()) + "/\" }\n}\n");
  environment["TF_REGISTRY_CLIENT_TIMEOUT"] = "1";
  const Ran ran = modlock({"versions", std::string(kRegistryHost) + "/acme/vpc/aws"});
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(ran.err.find("[TIMEOUT]") != std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(offline_says_what_is_missing) {
  publish(repository("vpc"), "1.0.0");
  call("1.0.0");
  const Ran ran = modlock({"lock", "--offline"});
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(ran.err.find("[OFFLINE_MISS]") != std::string::npos, ran.err);
  BOOST_TEST(joined(registry.lines()) == "");
}

BOOST_AUTO_TEST_CASE(stock_client_takes_what_was_installed, *needs("tofu or terraform")) {
  GitRepository& vpc = repository("vpc");
  publish(vpc, "1.0.0");
  call("~> 1.0");
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  publish(vpc, "1.1.0");
  const std::string manifest = read(".terraform/modules/modules.json");
  for (const std::string& client : clients()) {
    BOOST_TEST_CONTEXT(client) {
      registry.forget_requests();
      const Ran ran = program({client, "init", "-input=false", "-no-color"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(joined(registry.lines()) == "");
      BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
