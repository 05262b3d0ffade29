#include "plugin/resolve/provider_tree.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/provider_plan_fixture.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

// A root with a module, with a test file that has a module of its own, and with what each of them needs.
ModuleTree sample_tree(const TemporaryDirectory& directory) {
  directory.write("main.tf",
                  "terraform {\n  required_providers {\n    aws = {\n      source  = \"hashicorp/aws\"\n"
                  "      version = \">= 5.0\"\n    }\n  }\n}\n\nmodule \"vpc\" {\n  source = \"./vpc\"\n}\n\n"
                  "data \"terraform_remote_state\" \"x\" {\n  backend = \"local\"\n}\n");
  directory.write("vpc/main.tf",
                  "terraform {\n  required_providers {\n    aws = {\n      source  = \"hashicorp/aws\"\n"
                  "      version = \"~> 5.1\"\n    }\n  }\n}\n\nresource \"null_resource\" \"x\" {}\n");
  directory.write("tests/main.tftest.hcl", "run \"x\" {\n  module {\n    source = \"./tests/setup\"\n  }\n}\n");
  directory.write("tests/setup/main.tf", "resource \"random_id\" \"x\" {\n  byte_length = 1\n}\n");
  WalkRequest request{.root = directory.path(), .bounds = {directory.path()}};
  auto tree = walk_modules(request, [](std::span<ModuleNode* const>) { return Result<void>(); }, {});
  BOOST_TEST_REQUIRE(tree.has_value());
  BOOST_TEST_REQUIRE(!has_errors(tree->diagnostics), text_of(tree->diagnostics));
  return std::move(*tree);
}

std::string needs_text(const Result<std::vector<ProviderNeed>>& needs) {
  BOOST_TEST_REQUIRE(needs.has_value());
  std::string text;
  for (const ProviderNeed& need : *needs) {
    text += fmt::format("{} [{}] {}\n", need.subject(), need.merged.canonical(), to_string(need.location));
    for (const ProviderConstraintUse& use : need.constraints) {
      text += fmt::format("  {} at {}\n", use.sentence(), to_string(use.location));
    }
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(provider_need)

BOOST_AUTO_TEST_CASE(who_is_asked) {
  const TemporaryDirectory directory;
  const ModuleTree tree = sample_tree(directory);
  StateProviders state;
  state.providers.push_back(
      {.address = address_of("acme/old"), .local_name = {}, .origin = ProviderRequirement::DeclaredBy::state});
  state.providers.push_back(
      {.address = address_of("hashicorp/aws"), .local_name = {}, .origin = ProviderRequirement::DeclaredBy::state});
  const std::string aws =
      "provider.registry.opentofu.org/hashicorp/aws [>= 5.0.0, ~> 5.1] main.tf:3:5\n"
      "  the root module requires \">= 5.0\" at main.tf:5:17\n"
      "  module \"vpc\" requires \"~> 5.1\" at vpc/main.tf:5:17\n";
  const std::string null = "provider.registry.opentofu.org/hashicorp/null [] vpc/main.tf:10:1\n";
  const std::string random = "provider.registry.opentofu.org/hashicorp/random [] tests/setup/main.tf:1:1\n";
  BOOST_TEST(needs_text(find_needs(tree, state, NeedsOf::init, kOpenTofuRegistry)) ==
             "provider.registry.opentofu.org/acme/old [] \n" + aws + null + random);
  BOOST_TEST(needs_text(find_needs(tree, state, NeedsOf::providers_lock, kOpenTofuRegistry)) == aws + null);
}

// The same local name is another provider in another module.
BOOST_AUTO_TEST_CASE(local_names_of_each_module) {
  const TemporaryDirectory directory;
  directory.write("main.tf",
                  "terraform {\n  required_providers {\n    aws = {\n      source = \"acme/aws\"\n    }\n  }\n}\n\n"
                  "resource \"aws_x\" \"y\" {}\n\nmodule \"vpc\" {\n  source = \"./vpc\"\n}\n");
  directory.write("vpc/main.tf", "resource \"aws_x\" \"y\" {}\n");
  WalkRequest request{.root = directory.path(), .bounds = {directory.path()}};
  const auto tree = walk_modules(request, [](std::span<ModuleNode* const>) { return Result<void>(); }, {});
  BOOST_TEST_REQUIRE(tree.has_value());
  BOOST_TEST(needs_text(find_needs(*tree, {}, NeedsOf::init, kOpenTofuRegistry)) ==
             "provider.registry.opentofu.org/acme/aws [] main.tf:3:5\n"
             "provider.registry.opentofu.org/hashicorp/aws [] vpc/main.tf:1:1\n");
}

// A configuration is read by the newest rules. A client that is older, or never has a rule, is a warning.
BOOST_AUTO_TEST_CASE(rules_that_a_client_version_lacks) {
  struct Row {
    const char* name;
    ClientKind tool;
    const char* text;
    const char* before;  // the last version without the rule; empty: no version has it
    const char* since;
    std::string_view subject;
    std::string_view what;
  };
  constexpr auto kTofu = ClientKind::opentofu;
  constexpr auto kTerraform = ClientKind::terraform;
  constexpr const char* kComputed =
      "variable \"v\" {\n  default = \"./a\"\n  const = true\n}\nmodule \"m\" {\n  source = var.v\n}\n";
  constexpr const char* kNull = "module \"m\" {\n  source = \"./a\"\n  version = null\n}\n";
  constexpr const char* kUnderscore =
      "terraform {\n  required_providers {\n    a = {\n      source = \"x_y/a\"\n    }\n  }\n}\n";
  constexpr const char* kConverted = "module \"m\" {\n  source = convert(\"./a\", string)\n}\n";
  const Row rows[] = {
      {"computed", kTerraform, kComputed, "1.14.9", "1.15.0-rc1", "module.m", "a computed source or version"},
      {"computed in OpenTofu", kTofu, kComputed, "1.7.9", "1.8.0", "module.m", "a computed source or version"},
      {"null", kTerraform, kNull, "1.15.4", "1.15.5", "module.m", "version = null"},
      {"null in OpenTofu", kTofu, kNull, "1.9.4", "1.10.0", "module.m", "version = null"},
      {"action", kTerraform, "action \"a_b\" \"c\" {}\n", "1.13.5", "1.14.0",
       "provider.registry.terraform.io/hashicorp/a", "an action block"},
      {"namespace", kTerraform, kUnderscore, "1.15.9", "1.16.0", "provider.registry.terraform.io/x_y/a",
       "an underscore in a provider namespace"},
      {"namespace in OpenTofu", kTofu, kUnderscore, "", "", "provider.registry.opentofu.org/x_y/a",
       "an underscore in a provider namespace"},
      {"convert", kTofu, kConverted, "", "", "module.m", "the function convert in a source"},
      {"convert in Terraform", kTerraform, kConverted, "1.14.9", "1.15.0", "module.m",
       "the function convert in a source"},
      {"assume", kTofu, "module \"m\" {\n  source = core::assumenotnull(\"./a\")\n}\n", "1.12.6", "1.13.0", "module.m",
       "a function assume*"},
      {"assume in Terraform", kTerraform, "module \"m\" {\n  source = assumenotnull(\"./a\")\n}\n", "", "", "module.m",
       "a function assume*"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      directory.write("main.tf", row.text);
      directory.write("a/main.tf", "");
      WalkRequest request{.root = directory.path(), .bounds = {directory.path()}, .tool = row.tool};
      const auto tree = walk_modules(request, [](std::span<ModuleNode* const>) { return Result<void>(); }, {});
      BOOST_TEST_REQUIRE(tree.has_value());
      BOOST_TEST(text_of(tree->diagnostics) == "");
      const std::string_view client = display_name(row.tool);
      const bool never = std::string_view(row.before).empty();
      const Diagnostics found = check_client_rules(*tree, row.tool, never ? "99.0.0" : row.before);
      BOOST_TEST_REQUIRE(!found.empty());
      BOOST_TEST((found.back().severity == Severity::warning));
      BOOST_TEST(found.back().what.subject == row.subject);
      BOOST_TEST(
          found.back().what.message ==
          (never ? fmt::format("{} does not support {}", client, row.what)
                 : fmt::format("{} supports {} from version {}, and this is version {}", client, row.what,
                               std::string(row.since).substr(0, std::string_view(row.since).find('-')), row.before)));
      if (!never) {
        BOOST_TEST(text_of(check_client_rules(*tree, row.tool, row.since)) == "");
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
