#include "plugin/resolve/explanation.h"

#include <fmt/ranges.h>

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/provider_plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(provider_explanation)

namespace {

std::string text_of(const messages::LockExplainResult& explanation) {
  std::string text =
      fmt::format("{}: {}\n", explanation.selected.version.value_or("nothing"), explanation.selected.reason);
  for (const ExplainedStep& step : explanation.chain) {
    text += fmt::format("{} {} at {} keeps {}\n", step.constraint, step.subject,
                        step.location ? to_string(*step.location) : "", fmt::join(step.kept, " "));
    for (const messages::Rejection& rejected : step.rejected) {
      text += fmt::format("  {}: {}\n", rejected.version, rejected.why);
    }
  }
  return text + modlock::test::text_of(explanation.diagnostics);
}

}  // namespace

BOOST_AUTO_TEST_CASE(chains) {
  const std::string lock_text = "provider \"registry.opentofu.org/hashicorp/aws\" {\n  version = \"1.0.0\"\n}\n";
  struct Row {
    const char* name;
    bool is_locked;
    std::vector<std::string> constraints;
    std::string text;
  };
  const Row rows[] = {
      {"nothing is asked for",
       false,
       {},
       "2.0.0: it is the newest remaining version\n"
       "any release  at main.tf:1:1 keeps 2.0.0 1.1.0 1.0.0\n"
       "  3.0.0-beta1: a prerelease is chosen only if a constraint names it exactly\n"},
      {"each takes its part",
       false,
       {"> 1.0", "vpc: < 2.0"},
       "1.1.0: it is the newest remaining version\n"
       "> 1.0  at main.tf:2:1 keeps 2.0.0 1.1.0\n"
       "  3.0.0-beta1: a prerelease is chosen only if a constraint names it exactly\n"
       "  1.0.0: \"> 1.0.0\" excludes it\n"
       "< 2.0 module.vpc at main.tf:3:1 keeps 1.1.0\n"
       "  2.0.0: \"< 2.0.0\" excludes it\n"},
      {"a prerelease that a later one names",
       false,
       {">= 1.0", "vpc: 3.0.0-beta1"},
       "3.0.0-beta1: it is the newest remaining version\n"
       ">= 1.0  at main.tf:2:1 keeps 3.0.0-beta1 2.0.0 1.1.0 1.0.0\n"
       "3.0.0-beta1 module.vpc at main.tf:3:1 keeps 3.0.0-beta1\n"
       "  2.0.0: \"3.0.0-beta1\" excludes it\n"
       "  1.1.0: \"3.0.0-beta1\" excludes it\n"
       "  1.0.0: \"3.0.0-beta1\" excludes it\n"},
      {"what is locked stays",
       true,
       {"~> 1.0"},
       "1.0.0: it was selected without a constraint when it was locked, and the constraints allow it\n"
       "~> 1.0  at main.tf:2:1 keeps 1.1.0 1.0.0\n"
       "  3.0.0-beta1: a prerelease is chosen only if a constraint names it exactly\n"
       "  2.0.0: \"~> 1.0\" excludes it\n"
       "locked: 1.0.0  at .terraform.lock.hcl:1:1 keeps 1.0.0\n"
       "  1.1.0: newer; only upgrade selects it\n"},
      {"what is locked is excluded",
       true,
       {">= 2.0"},
       "nothing: the locked version 1.0.0 is excluded\n"
       ">= 2.0  at main.tf:2:1 keeps 2.0.0\n"
       "  3.0.0-beta1: a prerelease is chosen only if a constraint names it exactly\n"
       "  1.1.0: \">= 2.0.0\" excludes it\n"
       "  1.0.0: \">= 2.0.0\" excludes it\n"
       "CONSTRAINT_CONFLICT locked provider registry.opentofu.org/hashicorp/aws 1.0.0 does not match configured "
       "version "
       "constraint >= 2.0.0; must use tofu init -upgrade to allow selection of new versions\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeProviderSource source;
      for (const char* version : {"1.0.0", "1.1.0", "2.0.0", "3.0.0-beta1"}) {
        source.add("aws", version, {"linux_amd64"});
      }
      const LockFile lock = row.is_locked ? *parse_lock(lock_text, ".terraform.lock.hcl") : LockFile{};
      const ProviderPlanRequest request{.needs = {need_of("aws", row.constraints)}, .locked = lock.providers};
      const auto explanation =
          explain_provider(request, "provider.hashicorp/aws", lock, ".terraform.lock.hcl", source, {});
      BOOST_TEST_REQUIRE(explanation.has_value());
      BOOST_TEST(text_of(*explanation) == row.text);
      BOOST_TEST(source.releases == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(nobody_answers) {
  FakeProviderSource source;
  source.fail_with("aws", {.code = Code::unreachable, .message = "no answer"});
  const ProviderPlanRequest request{.needs = {need_of("aws", {"~> 1.0"})}, .locked = locks_of("aws 1.0.0 h1:x")};
  const auto explanation = explain_provider(request, "provider.aws", {}, "l", source, {});
  BOOST_TEST_REQUIRE(explanation.has_value());
  BOOST_TEST(text_of(*explanation) ==
             "1.0.0: it was selected without a constraint when it was locked, and the constraints allow it\n"
             "~> 1.0  at main.tf:2:1 keeps 1.0.0\n"
             "locked: 1.0.0  at  keeps 1.0.0\n"
             "UNREACHABLE the versions are not known: no answer\n");
  BOOST_TEST(explain_provider(request, "provider.other", {}, "l", source, {}).error().message ==
             "\"provider.other\" matches no module call or provider");
}

BOOST_AUTO_TEST_SUITE_END()
