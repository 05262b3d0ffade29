// Renovate beside us: what its lock file writer leaves of a lock with modules, and the task that runs after it.

#include <boost/test/unit_test.hpp>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/hosts/renovate_writer.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {
namespace {

constexpr const char* kCloud = "registry.opentofu.org/acme/cloud";
constexpr const char* kDust = "registry.opentofu.org/acme/dust";

std::string required_cloud_and_dust(const std::string& constraint) {
  return "terraform {\n  required_providers {\n    cloud = {\n      source  = \"acme/cloud\"\n      version = \"" +
         constraint + "\"\n    }\n    dust = {\n      source = \"acme/dust\"\n    }\n  }\n}\n";
}

using Upgrade = std::map<std::string, std::string>;

// The dataFileTemplate of the preset that docs/bots.md shows.
std::string preset_template() {
  const std::string page = read_text(std::filesystem::path(MODLOCK_SCRIPTS) / "../docs/bots.md");
  const std::size_t start = page.find("```json\n") + 8;
  const auto preset = parse_json(page.substr(start, page.find("```", start) - start));
  BOOST_TEST_REQUIRE(preset.has_value());
  const Json::Value& tasks = (*preset)["packageRules"][0]["postUpgradeTasks"];
  BOOST_TEST(tasks["commands"][0].asString() == "tofu-modlock update");
  return tasks["dataFileTemplate"].asString();
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// As Handlebars renders what of it the preset uses.
std::string rendered(const std::string& text, const std::vector<Upgrade>& upgrades) {
  const std::string open = "{{#each upgrades}}";
  const std::string close = "{{/each}}";
  const std::size_t start = text.find(open);
  const std::size_t end = text.find(close);
  BOOST_TEST_REQUIRE(end != std::string::npos);
  const std::string body = text.substr(start + open.size(), end - start - open.size());
  std::string items;
  for (std::size_t i = 0; i < upgrades.size(); ++i) {
    std::string item = replaced(body, "{{#unless @last}},{{/unless}}", i + 1 < upgrades.size() ? "," : "");
    for (const auto& [name, value] : upgrades[i]) {
      item = replaced(item, "{{{" + name + "}}}", value);
    }
    items += item;
  }
  return text.substr(0, start) + items + text.substr(end + close.size());
}

struct Renovate : Scene {
  Renovate() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    release(vpc, "1.1.0");
    for (const char* version : {"1.0.0", "2.0.0"}) {
      registry.publish({.name = "acme/cloud", .version = version});
    }
    registry.publish({.name = "acme/dust", .version = "1.0.0"});
    write_text(path("tofurc"), registry.host_block("registry.opentofu.org"));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
    program({"git", "init", "--quiet"});
    write("main.tf", required_cloud_and_dust("~> 1.0") + call("v1.0.0"));
    BOOST_TEST(modlock({"lock"}).exit_code == 0);
  }

  std::string call(const std::string& tag) const { return module_call("vpc", "git::" + vpc.url() + "?ref=" + tag); }
  std::string module_part() const { return lock().substr(0, lock().find("\nprovider ")); }

  ProviderBump bump() const {
    const PublishedArchive& archive = registry.archive("acme/cloud", "2.0.0");
    return {kCloud, "2.0.0", "~> 2.0", {archive.h1, "zh:" + archive.zh}};
  }

  ProviderRegistry registry;
  GitRepository& vpc;
};

BOOST_FIXTURE_TEST_SUITE(renovate, Renovate)

BOOST_AUTO_TEST_CASE(its_writer_leaves_module_blocks_alone) {
  const std::string modules = module_part();
  BOOST_TEST(modules.find("module \"vpc\"") != std::string::npos);
  write(".terraform.lock.hcl", as_renovate_writes(lock(), {bump()}));
  BOOST_TEST(lock().find("version     = \"2.0.0\"") != std::string::npos, lock());
  BOOST_TEST(module_part() == modules);
  write("main.tf", required_cloud_and_dust("~> 2.0") + call("v1.0.0"));
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(module_part() == modules);
}

// A module block after a provider block belongs to that provider for Renovate: its hashes go.
BOOST_AUTO_TEST_CASE(its_writer_spares_module_blocks_that_lock_has_put_first) {
  const std::string modules = module_part();
  const std::size_t header = modules.find("\nmodule ");
  const std::string misplaced = modules.substr(0, header) + lock().substr(modules.size()) + modules.substr(header);
  const std::string damaged = as_renovate_writes(misplaced, {{kDust, "1.0.0", "", {"zh:0"}}});
  BOOST_TEST(damaged.find(modules.substr(header)) == std::string::npos, damaged);
  write(".terraform.lock.hcl", misplaced);
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 3);
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(module_part() == modules);
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(writing_nothing_new_is_the_identity) {
  BOOST_TEST(as_renovate_writes(lock(), {}) == lock());
}

BOOST_AUTO_TEST_CASE(the_task_after_it_locks_modules_and_completes_providers) {
  write("main.tf", required_cloud_and_dust("~> 2.0") + call("v1.1.0"));
  write(".terraform.lock.hcl", as_renovate_writes(lock(), {bump()}));
  const std::map<std::string, std::string> of_module = {
      {"depName", vpc.path().string()}, {"packageName", vpc.path().string()}, {"depType", "module"},
      {"packageFile", "main.tf"},       {"currentValue", "v1.0.0"},           {"newValue", "v1.1.0"},
      {"newVersion", "v1.1.0"}};
  const std::map<std::string, std::string> of_provider = {
      {"depName", "cloud"},       {"packageName", "acme/cloud"}, {"depType", "required_provider"},
      {"packageFile", "main.tf"}, {"currentValue", "~> 1.0"},    {"newValue", "~> 2.0"},
      {"newVersion", "2.0.0"}};
  write_text(path("data.json"), rendered(preset_template(), {of_module, of_provider}));
  environment["RENOVATE_POST_UPGRADE_COMMAND_DATA_FILE"] = path("data.json").string();
  const Ran ran = modlock({"update"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST((locked_commits(*this) == std::map<std::string, std::string>{{"vpc", "<1.1.0>"}}));
  BOOST_TEST(read("main.tf") == required_cloud_and_dust("~> 2.0") + call("v1.1.0"));
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
