// Engine::lookup() and Engine::update(), with packages in memory.

#include <functional>

#include "tests/plugin/engine/engine_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

BOOST_FIXTURE_TEST_SUITE(engine_update, EngineFixture)

namespace {

std::string lines_of(const std::vector<messages::LookedUpDependency>& dependencies) {
  std::string text;
  for (const messages::LookedUpDependency& dependency : dependencies) {
    text += fmt::format("{} locked \"{}\" {}", dependency.subject, dependency.locked_version, dependency.skip_reason);
    for (const messages::AvailableUpdate& update : dependency.updates) {
      text += fmt::format("[{} {} {}]", update.update_type, update.new_version, update.new_value);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(lookup_finds_newer_versions) {
  lock();
  git.add_tag(kVpc, "v1.1.0", {{"main.tf", "# 1.1\n"}});
  git.add_tag(kVpc, "v2.0.0", {{"main.tf", "# 2\n"}});
  directory.write("root/local/main.tf", "");
  write("main.tf", read("main.tf") + "module \"local\" {\n  source = \"./local\"\n}\n");
  auto params = of_root<messages::UpdateLookupParams>();
  BOOST_TEST(lines_of(succeed(&Engine::lookup, params).dependencies) ==
             "module.local locked \"\" local\n"
             "module.vpc locked \"1.0.0\" [minor 1.1.0 ~> 1.0][major 2.0.0 ~> 2.0]\n");
  params.subjects = {"module.local"};
  BOOST_TEST(lines_of(succeed(&Engine::lookup, params).dependencies) == "module.local locked \"\" local\n");
}

BOOST_AUTO_TEST_CASE(lookup_reports_a_source_that_fails) {
  lock();
  git.remove_package(kVpc);
  const auto found = succeed(&Engine::lookup, of_root<messages::UpdateLookupParams>());
  BOOST_TEST(modlock::test::lines_of(found.diagnostics) ==
             "warning NOT_FOUND: no such repository: git::https://example.com/vpc.git\n");
  BOOST_TEST(lines_of(found.dependencies) == "module.vpc locked \"1.0.0\" \n");
}

BOOST_AUTO_TEST_CASE(update_edits_the_settings_and_the_lock) {
  lock();
  const std::string vpc_2_0 = git.add_tag(kVpc, "v2.0.0", {{"main.tf", "# 2\n"}});
  auto params = of_root<messages::UpdatePlanParams>();
  params.updates.push_back({.subject = "module.vpc", .new_version = "2.0.0", .new_constraint = {}});
  const auto planned = succeed(&Engine::update, params);
  BOOST_TEST_REQUIRE(planned.edits.documents.size() == 2U);
  BOOST_TEST(planned.edits.documents[0].path == kSettings);
  BOOST_TEST(planned.edits.documents[1].path == kLock);
  BOOST_TEST(modlock::test::lines_of(planned.changes) == "module.vpc updated: constraints-changed: ~> 2.0\n");
  BOOST_TEST(planned.modules.at(0).commit == vpc_2_0);
  BOOST_TEST(outcome(apply(planned)) == "ok");
  BOOST_TEST(read(kSettings) == "module \"vpc\" {\n  version = \"~> 2.0\"\n}\n");
  BOOST_TEST(outcome(call(&Engine::plan, plan_params("frozen"))) == "ok");
}

BOOST_AUTO_TEST_CASE(a_source_stands_for_what_is_locked_to_it) {
  constexpr const char* kNet = "git::https://example.com/net.git";
  git.add_tag(kNet, "v1.0.0",
              {{"main.tf", fmt::format("module \"vpc\" {{\n  source = \"{}?ref=v1.0.0\"\n}}\n", kVpc)}});
  write("main.tf", read("main.tf") + fmt::format("module \"net\" {{\n  source = \"{}?ref=v1.0.0\"\n}}\n", kNet));
  lock();
  git.add_tag(kVpc, "v1.1.0", {{"main.tf", "# 1.1\n"}});
  auto params = of_root<messages::UpdatePlanParams>();
  for (const char* const source : {"example.com/vpc", "example.com/vpc@1.0.0"}) {
    BOOST_TEST_CONTEXT(source) {
      params.updates = {{source, "1.1.0", {}}};
      const auto planned = succeed(&Engine::update, params);
      BOOST_TEST(modlock::test::lines_of(planned.changes) == "module.vpc updated: another version was chosen\n");
      BOOST_TEST(
          modlock::test::lines_of(planned.diagnostics) ==
          "warning CONFIG_NON_STATIC: the source of module.net.vpc should become \"v1.1.0\", and the text cannot "
          "be changed where it is written: it is in the package of module.net\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(what_an_update_refuses) {
  struct Row {
    const char* name;
    messages::Update update;
    const char* outcome;
  };
  const Row rows[] = {
      {"a version that is none",
       {"module.vpc", "latest", {}},
       "INVALID_PARAMS: the new version of module.vpc must be a version number, found \"latest\""},
      {"a constraint that is none",
       {"module.vpc", {}, "~~ 1"},
       "CONSTRAINT_SYNTAX: \"~~ 1\" is not a version constraint: item \"~~ 1\" must be an optional operator (=, !=, >, "
       ">=, <, <=, "
       "~>) and a version"},
      {"a call that does not exist",
       {"module.dns", "1.0.0", {}},
       "INVALID_PARAMS: \"module.dns\" matches no module call or provider"},
      {"a version that the source lacks",
       {"module.vpc", "9.0.0", {}},
       "NO_MATCHING_VERSION: no version of \"git::https://example.com/vpc.git\" matches the constraint \"9.0.0\" of "
       "module "
       "\"vpc\"; the newest are: 1.0.0"},
      {"a source that nothing is locked to",
       {"example.com/none", "1.0.0", {}},
       "INVALID_PARAMS: \"example.com/none\" matches no module call or provider"},
      {"another release of a source",
       {"example.com/vpc@0.9.0", "1.0.0", {}},
       "INVALID_PARAMS: \"example.com/vpc@0.9.0\" matches no module call or provider"},
      {"no such bare name", {"vcp", "1.0.0", {}}, "INVALID_PARAMS: \"vcp\" matches no module call or provider"},
  };
  lock();
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      auto params = of_root<messages::UpdatePlanParams>();
      params.updates = {row.update};
      BOOST_TEST(outcome(call(&Engine::update, params)) == row.outcome);
    }
  }
  write("main.tf", "module\n");
  auto params = of_root<messages::UpdatePlanParams>();
  params.updates = {{"module.vpc", "1.0.0", {}}};
  BOOST_TEST(outcome(call(&Engine::update, params)) ==
             "CONFIG_PARSE: expected \"=\" or a block after \"module\", found the end of the line");
}

BOOST_AUTO_TEST_SUITE_END()
