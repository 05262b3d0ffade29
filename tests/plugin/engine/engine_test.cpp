#include "plugin/engine/engine.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "backends/base/files.h"
#include "tests/support/environment.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr const char* kLock = ".terraform.lock.hcl";

// Root modules that call one module of a git repository with two versions.
struct Scene {
  Scene() {
    vpc.commit({{"main.tf", "# 1\n"}});
    vpc.tag("v1.0.0");
    BOOST_TEST_REQUIRE(engine.open().has_value());
    make_root("root");
  }

  void make_root(const std::string& name) const {
    directory.write(name + "/main.tf", fmt::format("module \"vpc\" {{\n  source = \"git::{}\"\n}}\n", vpc.url()));
    directory.write(name + "/.tofu-modlock.hcl", "module \"vpc\" {\n  version = \"~> 1.0\"\n}\n");
  }
  messages::RootParams root(const std::string& name = "root") const {
    messages::RootParams params;
    params.root = (directory / name).string();
    return params;
  }
  messages::LockPlanParams plan_params(const std::string& mode, const std::string& name = "root") const {
    messages::LockPlanParams params;
    params.root = root(name);
    params.mode = mode;
    return params;
  }
  void lock() const {
    Run run;
    const auto planned = engine.plan(plan_params("missing"), run);
    BOOST_TEST_REQUIRE(planned.has_value());
    BOOST_TEST_REQUIRE(planned->edits.documents.size() == 1U);
    directory.write(fmt::format("root/{}", kLock), planned->edits.documents[0].new_text.value());
  }
  std::string verdict() const {
    messages::LockVerifyParams params;
    params.root = root();
    Run run;
    const auto verified = engine.verify(params, run);
    BOOST_TEST_REQUIRE(verified.has_value());
    BOOST_TEST_REQUIRE(verified->verdicts.size() == 1U);
    return verified->verdicts[0].subject + " " + verified->verdicts[0].verdict;
  }

  TemporaryDirectory directory;
  ScopedEnvironment home{"HOME", (directory / "home").string()};
  ScopedEnvironment config{"XDG_CONFIG_HOME", (directory / "home").string()};
  GitRepository vpc{directory / "vpc.git"};
  Engine engine{{.cache_directory = directory / "cache", .user_settings = {}, .implementation = "opentofu"}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(engine_methods, Scene)

BOOST_AUTO_TEST_CASE(plan_install_and_verify) {
  lock();
  BOOST_TEST(verdict() == "module.vpc missing");
  messages::ModulesInstallParams params;
  params.root = root();
  Run run;
  const auto installed = engine.install(params, run);
  BOOST_TEST_REQUIRE(installed.has_value());
  BOOST_TEST_REQUIRE(installed->installed.size() == 1U);
  BOOST_TEST(installed->installed[0].key == "vpc");
  BOOST_TEST(verdict() == "module.vpc held");
  directory.write("root/.terraform/modules/vpc/main.tf", "# other\n");
  BOOST_TEST(verdict() == "module.vpc tampered");
}

BOOST_AUTO_TEST_CASE(frozen_leaves_the_changes_in_the_run) {
  Run run;
  const auto planned = engine.plan(plan_params("frozen"), run);
  BOOST_TEST_REQUIRE(!planned.has_value());
  BOOST_TEST((planned.error().code == Code::frozen));
  BOOST_TEST_REQUIRE(run.changes.size() == 1U);
  BOOST_TEST(run.changes[0].subject == "module.vpc");
  BOOST_TEST(run.changes[0].action == "added");
}

BOOST_AUTO_TEST_CASE(update_edits_the_settings_and_the_lock) {
  lock();
  vpc.commit({{"main.tf", "# 2\n"}});
  vpc.tag("v2.0.0");
  messages::UpdateLookupParams asked;
  asked.root = root();
  Run looking;
  const auto found = engine.lookup(asked, looking);
  BOOST_TEST_REQUIRE(found.has_value());
  BOOST_TEST_REQUIRE(found->dependencies.size() == 1U);
  BOOST_TEST_REQUIRE(found->dependencies[0].updates.size() == 1U);
  BOOST_TEST(found->dependencies[0].updates[0].new_version == "2.0.0");
  messages::UpdatePlanParams params;
  params.root = root();
  params.updates.push_back({.subject = "module.vpc", .new_version = "2.0.0", .new_constraint = {}});
  Run run;
  const auto planned = engine.update(params, run);
  BOOST_TEST_REQUIRE(planned.has_value());
  BOOST_TEST_REQUIRE(planned->edits.documents.size() == 2U);
  BOOST_TEST(planned->edits.documents[0].path == ".tofu-modlock.hcl");
  BOOST_TEST(planned->edits.documents[1].path == kLock);
  BOOST_TEST_REQUIRE(planned->modules.size() == 1U);
  BOOST_TEST(planned->modules[0].version.value_or("") == "2.0.0");
}

BOOST_AUTO_TEST_CASE(explain_inspect_and_versions) {
  lock();
  messages::LockExplainParams params;
  params.root = root();
  params.subject = "module.vpc";
  Run explaining;
  const auto explained = engine.explain(params, explaining);
  BOOST_TEST_REQUIRE(explained.has_value());
  BOOST_TEST(explained->selected.version.value_or("") == "1.0.0");
  Run inspecting;
  const auto inspected = engine.inspect(root(), inspecting);
  BOOST_TEST_REQUIRE(inspected.has_value());
  BOOST_TEST_REQUIRE(inspected->modules.size() == 1U);
  BOOST_TEST(inspected->modules[0].locked_version.value_or("") == "1.0.0");
  BOOST_TEST(inspecting.stats().requests == 0U);
  Run listing;
  messages::VersionsListParams of_vpc;
  of_vpc.source = "git::" + vpc.url();
  const auto listed = engine.versions(of_vpc, listing);
  BOOST_TEST_REQUIRE(listed.has_value());
  BOOST_TEST(listed->versions.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_run_over_roots_asks_each_source_once) {
  const std::vector<std::string> names = {"root", "two", "three"};
  for (const std::string& name : names) {
    make_root(name);
  }
  Run single;
  BOOST_TEST_REQUIRE(engine.plan(plan_params("upgrade"), single).has_value());
  BOOST_TEST(single.stats().requests > 0U);
  Run warm;
  BOOST_TEST_REQUIRE(engine.plan(plan_params("upgrade"), warm).has_value());
  const Run all = Run::for_many_roots({});
  for (const std::string& name : names) {
    Run run = all.for_root();
    BOOST_TEST_REQUIRE(engine.plan(plan_params("upgrade", name), run).has_value());
  }
  BOOST_TEST(all.stats().requests == warm.stats().requests);
}

BOOST_AUTO_TEST_CASE(the_cache_keeps_what_was_just_locked) {
  lock();
  const auto info = engine.cache_info();
  BOOST_TEST_REQUIRE(info.has_value());
  BOOST_TEST(info->directory == (directory / "cache").string());
  BOOST_TEST(info->sizes.packages == 1U);
  Run run;
  messages::CachePruneParams params;
  params.max_bytes = 0;
  const auto pruned = engine.prune_cache(params, run);
  BOOST_TEST_REQUIRE(pruned.has_value());
  BOOST_TEST(pruned->removed.packages == 0U);  // used within the last hour
  BOOST_TEST(pruned->sizes.packages == 1U);
  params.max_age = "soon";
  const auto refused = engine.prune_cache(params, run);
  BOOST_TEST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == Code::invalid_params));
}

BOOST_AUTO_TEST_SUITE_END()
