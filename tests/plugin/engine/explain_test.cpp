// Engine::explain(), with packages in memory.

#include <fmt/ranges.h>

#include "tests/plugin/engine/engine_fixture.h"

using namespace modlock;
using namespace modlock::test;

BOOST_FIXTURE_TEST_SUITE(engine_explain, EngineFixture)

namespace {

// "<constraint>: <kept> | <rejected>" for each step, and the reason.
std::string text_of(const messages::LockExplainResult& result) {
  std::string text =
      fmt::format("{} {}: {}\n", result.subject, result.selected.version.value_or("-"), result.selected.reason);
  for (const messages::ExplainedStep& step : result.chain) {
    text += fmt::format("{}: {}", step.constraint, fmt::join(step.kept, " "));
    for (const messages::Rejection& rejection : step.rejected) {
      text += fmt::format(" not {} ({})", rejection.version, rejection.why);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(steps_lead_to_the_version) {
  lock();
  git.add_tag(kVpc, "v1.1.0", {{"main.tf", "# 1.1\n"}});
  git.add_tag(kVpc, "v2.0.0", {{"main.tf", "# 2\n"}});
  add_provider("hashicorp/null", "3.2.0");
  write("main.tf", read("main.tf") +
                       "terraform {\n  required_providers {\n    null = {\n"
                       "      source  = \"hashicorp/null\"\n      version = \"~> 3.0\"\n    }\n  }\n}\n");
  auto params = of_root<messages::LockExplainParams>();
  params.subject = "module.vpc";
  const auto explained = succeed(&Engine::explain, params);
  BOOST_TEST(text_of(explained) ==
             "module.vpc 1.0.0: it was selected for \"~> 1.0\" when it was locked, and the constraints allow it\n"
             "~> 1.0: 1.1.0 1.0.0 not 2.0.0 (\"~> 1.0\" excludes it)\n"
             "locked: 1.0.0: 1.0.0 not 1.1.0 (newer; only upgrade selects it)\n");
  BOOST_TEST(explained.selected.commit == vpc_1_0);
  params.subject = "provider.registry.opentofu.org/hashicorp/null";
  BOOST_TEST(text_of(succeed(&Engine::explain, params)) ==
             "provider.registry.opentofu.org/hashicorp/null 3.2.0: it is the newest remaining version\n"
             "~> 3.0: 3.2.0\n");
}

BOOST_AUTO_TEST_CASE(a_conflict_is_explained_too) {
  write("main.tf",
        fmt::format("module \"one\" {{\n  source = \"{0}\"\n}}\nmodule \"two\" {{\n  source = \"{0}\"\n}}\n", kVpc));
  write(kSettings, "module \"one\" {\n  version = \"1.0.0\"\n}\nmodule \"two\" {\n  version = \"2.0.0\"\n}\n");
  git.add_tag(kVpc, "v2.0.0", {{"main.tf", "# 2\n"}});
  auto params = of_root<messages::LockExplainParams>();
  params.subject = "module.one";
  BOOST_TEST(
      text_of(succeed(&Engine::explain, params)) ==
      "module.one -: no version satisfies all constraints of the calls that share it; change one of them, or set "
      "resolution = \"per-call\" in .tofu-modlock.hcl\n"
      "1.0.0: 1.0.0 not 2.0.0 (\"1.0.0\" excludes it)\n"
      "2.0.0:  not 1.0.0 (\"2.0.0\" excludes it)\n");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_explained) {
  struct Row {
    const char* name;
    const char* subject;
    const char* main;
    const char* outcome;
  };
  const Row rows[] = {
      {"no such call", "module.dns", "", "INVALID_PARAMS: \"module.dns\" matches no module call or provider"},
      {"no such provider", "provider.hashicorp/null", "",
       "INVALID_PARAMS: \"provider.hashicorp/null\" matches no module call or provider"},
      {"no subject", "", "", "INVALID_PARAMS: \"\" matches no module call or provider"},
      {"no such bare name", "vcp", "", "INVALID_PARAMS: \"vcp\" matches no module call or provider"},
      {"a configuration that does not parse", "module.vpc", "module\n",
       "CONFIG_PARSE: expected \"=\" or a block after \"module\", found the end of the line"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write("other.tf", row.main);
      auto params = of_root<messages::LockExplainParams>();
      params.subject = row.subject;
      BOOST_TEST(outcome(call(&Engine::explain, params)) == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
