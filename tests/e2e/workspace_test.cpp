// Many roots in one request.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {
namespace {

constexpr int kRoots = 24;
constexpr int kSharedModules = 3;

// Roots that share three modules of a registry and a provider; the sixth cannot be read.
struct Workspace : Scene {
  Workspace() {
    for (int i = 0; i < kSharedModules; ++i) {
      GitRepository& made = repository(fmt::format("m{}.git", i));
      release(made, "1.0.0");
      registry.server().add_version(fmt::format("acme/m{}/aws", i), "1.0.0",
                                    ModuleRegistry::by_header("git::file://" + made.path().string() + "?ref=v1.0.0"));
    }
    registry.publish({.name = "acme/cloud", .version = "1.0.0"});
    write_text(path("tofurc"), registry.host_block("registry.opentofu.org"));
    write_text(path("home/.gitconfig"), "[protocol \"file\"]\n\tallow = always\n");
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
    environment["TOFU_MODLOCK_IMPLEMENTATION_VERSION"] = "1.12.6";
    for (int root = 0; root < kRoots; ++root) {
      std::string text =
          "terraform {\n  required_providers {\n    cloud = {\n      source = \"acme/cloud\"\n    }\n  }\n}\n";
      for (int i = 0; i < kSharedModules; ++i) {
        text += module_call(fmt::format("m{}", i), fmt::format("acme/m{}/aws", i), "~> 1.0");
      }
      write(fmt::format("r{:02}/main.tf", root), root == kBroken ? "module {" : text);
    }
  }

  Json::Value call(const std::string& method, const std::string& more = {}, int roots = kRoots) const {
    std::string list;
    for (int root = 0; root < roots; ++root) {
      list += fmt::format("{}\"{}/r{:02}\"", root == 0 ? "" : ", ", this->root().string(), root);
    }
    const Ran ran = modlock({"call", method, "--params", fmt::format("{{\"roots\": [{}]{}}}", list, more)});
    BOOST_TEST(ran.exit_code == 0, ran.err);
    const auto value = parse_json(ran.out);
    BOOST_TEST_REQUIRE(value.has_value());
    return *value;
  }

  // A command over all roots.
  Ran run(std::vector<std::string> command) const {
    for (int root = 0; root < kRoots; ++root) {
      command.push_back(fmt::format("r{:02}", root));
    }
    return modlock(std::move(command));
  }

  // How often each path was asked for.
  std::map<std::string, int> asked() const {
    std::map<std::string, int> counts;
    for (const std::string& line : registry_lines()) {
      ++counts[line];
    }
    return counts;
  }
  void nothing_is_asked_twice() const {
    for (const auto& [line, count] : asked()) {
      // Service discovery is the business of modules and of providers.
      BOOST_TEST(count <= (line.find(".well-known") != std::string::npos ? 2 : 1), line << " was asked " << count);
    }
    BOOST_TEST(asked().count("GET /v1/modules/acme/m1/aws/versions") == 1U);
  }
  std::vector<std::string> registry_lines() const { return const_cast<ProviderRegistry&>(registry).server().lines(); }

  static constexpr int kBroken = 5;
  ProviderRegistry registry;
};

BOOST_FIXTURE_TEST_SUITE(workspace, Workspace)

BOOST_AUTO_TEST_CASE(each_source_is_asked_once_over_all_roots) {
  const Json::Value planned = call("workspace/plan");
  BOOST_TEST(planned["results"].size() == static_cast<unsigned>(kRoots));
  for (int root = 0; root < kRoots; ++root) {
    BOOST_TEST_CONTEXT("root " << root) {
      const Json::Value& entry = planned["results"][root];
      BOOST_TEST(entry["root"].asString() == fmt::format("<dir>/root/r{:02}", root));
      if (root == kBroken) {
        BOOST_TEST(entry["error"]["data"]["code"].asString() == "CONFIG_PARSE");
        continue;
      }
      BOOST_TEST(entry["modules"].size() == static_cast<unsigned>(kSharedModules));
      BOOST_TEST(entry["providers"].size() == 1U);
      BOOST_TEST(entry["edits"]["documents"].size() == 1U);
    }
  }
  BOOST_TEST(!planned["results"][0].isMember("stats"));
  BOOST_TEST(planned["stats"]["requests"].asUInt64() > 0U);
  nothing_is_asked_twice();
}

BOOST_AUTO_TEST_CASE(a_command_over_roots_asks_each_source_once) {
  const Ran ran = run({"lock"});
  BOOST_TEST(ran.exit_code == 8);
  nothing_is_asked_twice();
  const std::string first = read("r00/.terraform.lock.hcl");
  BOOST_TEST(ran.out.starts_with("r00, r01, and "), ran.out);  // they print the same
  for (int root = 0; root < kRoots; ++root) {
    BOOST_TEST_CONTEXT("root " << root) {
      BOOST_TEST((root == kBroken) == !has(fmt::format("r{:02}/.terraform.lock.hcl", root)));
      BOOST_TEST((root == kBroken || read(fmt::format("r{:02}/.terraform.lock.hcl", root)) == first));
    }
  }
  BOOST_TEST(ran.err.find("Error in r05: ") == 0U, ran.err);  // progress is for terminals
  BOOST_TEST(ran.err.find("left)") == std::string::npos, ran.err);
  BOOST_TEST(run({"install", "--jobs", "3"}).exit_code == 8);
  BOOST_TEST(run({"verify", "--jobs", "1"}).exit_code == 8);
  BOOST_TEST(run({"lock", "--jobs", "0"}).exit_code == 2);
}

BOOST_AUTO_TEST_CASE(as_many_requests_for_many_roots_as_for_one) {
  call("workspace/plan", {}, 1);
  const std::size_t one = registry_lines().size();
  registry.server().forget_requests();
  environment["TOFU_MODLOCK_CACHE_DIR"] = path("another-cache").string();
  call("workspace/plan");
  BOOST_TEST(registry_lines().size() == one);
}

BOOST_AUTO_TEST_CASE(verified_and_installed) {
  run({"lock"});
  const Json::Value installed = call("workspace/install");
  BOOST_TEST(installed["results"][0]["installed"].size() == static_cast<unsigned>(kSharedModules));
  BOOST_TEST(installed["results"][kBroken].isMember("error"));
  BOOST_TEST(has("r23/.terraform/modules/modules.json"));
  const Json::Value verified = call("workspace/verify", R"(, "include": ["modules"])");
  for (int root = 0; root < kRoots; ++root) {
    BOOST_TEST(verified["results"][root]["ok"].asBool() == (root != kBroken));
  }
}

BOOST_AUTO_TEST_CASE(as_many_roots_at_a_time_as_the_host_wants) {
  const Json::Value at_once = call("workspace/plan")["results"];
  for (const std::string_view jobs : {"1", "64"}) {
    BOOST_TEST((call("workspace/plan", fmt::format(R"(, "jobs": {})", jobs))["results"] == at_once), jobs);
  }
  for (const std::string_view jobs : {"0", "65"}) {
    const Ran ran =
        modlock({"call", "workspace/plan", "--params", fmt::format(R"({{"roots": ["."], "jobs": {}}})", jobs)});
    BOOST_TEST(ran.exit_code == 2);
    BOOST_TEST(ran.err.find("expected a number from 1 to 64 at params.jobs") != std::string::npos, ran.err);
  }
}

BOOST_AUTO_TEST_CASE(no_roots) {
  const Ran none = modlock({"call", "workspace/plan", "--params", "{}"});
  BOOST_TEST(none.exit_code == 2);
  BOOST_TEST(none.err.find("expected an array at params.roots, found nothing") != std::string::npos, none.err);
  const Ran empty = modlock({"call", "workspace/plan", "--params", R"({"roots": []})"});
  BOOST_TEST(empty.exit_code == 2);
  BOOST_TEST(empty.err.find("expected one root at least at params.roots") != std::string::npos, empty.err);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
