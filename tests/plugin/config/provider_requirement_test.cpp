#include "plugin/config/provider_requirement.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/requirement_texts.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(provider_requirement)

BOOST_AUTO_TEST_CASE(addresses_that_cannot_be_installed) {
  const RequirementRow rows[] = {
      {"rp builtin",
       {{"main.tf",
         "terraform {\n required_providers {\nterraform = { source=\"terraform.io/builtin/terraform\" }\n}\n}\n"}},
       "terraform.io/builtin/terraform terraform required main.tf:3:1 `terraform = { "
       "source=\"terraform.io/builtin/terraform\" }`",
       ""},
      {"rp builtin ver",
       {{"main.tf",
         "terraform {\n required_providers {\nterraform = { source=\"terraform.io/builtin/terraform\", version=\"1.0\" "
         "}\n}\n}\n"}},
       "terraform.io/builtin/terraform terraform required main.tf:3:1 `terraform = { "
       "source=\"terraform.io/builtin/terraform\", version=\"1.0\" }` 1.0 `\"1.0\"`",
       ""},
      {"rp builtin bad",
       {{"main.tf", "terraform {\n required_providers {\nx = { source=\"terraform.io/builtin/x\" }\n}\n}\n"}},
       "terraform.io/builtin/x x required main.tf:3:1 `x = { source=\"terraform.io/builtin/x\" }`",
       ""},
      {"rp tf implied",
       {{"main.tf", "terraform {\n required_providers {\nterraform = {}\n}\n}\n"}},
       "terraform.io/builtin/terraform terraform required main.tf:3:1 `terraform = {}`",
       ""},
      {"rp tf hashicorp",
       {{"main.tf", "terraform {\n required_providers {\nterraform = { source=\"hashicorp/terraform\" }\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/terraform terraform required main.tf:3:1 `terraform = { "
       "source=\"hashicorp/terraform\" }`",
       ""},
      {"rp legacy",
       {{"main.tf", "terraform {\n required_providers {\nx = { source=\"-/x\" }\n}\n}\n"}},
       "registry.opentofu.org/-/x x required main.tf:3:1 `x = { source=\"-/x\" }`",
       "error main.tf:3:1 `x = { source=\"-/x\" }`: Invalid legacy provider address: the provider "
       "\"registry.opentofu.org/-/x\" has no namespace"},
  };
  check_requirements(rows);
}

BOOST_AUTO_TEST_CASE(two_names_of_one_provider) {
  const RequirementRow rows[] = {
      {"rp dup addr",
       {{"main.tf", "terraform {\n required_providers {\na = { source=\"x/a\" }\nb = { source=\"x/a\" }\n}\n}\n"}},
       "registry.opentofu.org/x/a a required main.tf:3:1 `a = { source=\"x/a\" }`\n"
       "registry.opentofu.org/x/a b required main.tf:4:1 `b = { source=\"x/a\" }`",
       ""},
      {"rp implied block",
       {{"main.tf", "terraform {\n required_providers {\nb = { source=\"hashicorp/a\" }\n}\n}\nprovider \"a\" {}\n"}},
       "registry.opentofu.org/hashicorp/a b required main.tf:3:1 `b = { source=\"hashicorp/a\" }`\n"
       "registry.opentofu.org/hashicorp/a a block main.tf:6:1 `provider \"a\"`",
       ""},
      {"rp implied res",
       {{"main.tf",
         "terraform {\n required_providers {\nb = { source=\"hashicorp/a\" }\n}\n}\nresource \"a_x\" \"y\" {}\n"}},
       "registry.opentofu.org/hashicorp/a b required main.tf:3:1 `b = { source=\"hashicorp/a\" }`\n"
       "registry.opentofu.org/hashicorp/a a resource a_x.y main.tf:6:1 `resource \"a_x\" \"y\"`",
       ""},
  };
  check_requirements(rows);
}

BOOST_AUTO_TEST_CASE(provider_blocks) {
  const RequirementRow rows[] = {
      {"prov version",
       {{"main.tf", "provider \"a\" {\n version=\"~> 1.0\"\n}\n"}},
       "registry.opentofu.org/hashicorp/a a block main.tf:1:1 `provider \"a\"` ~> 1.0 `\"~> 1.0\"`",
       ""},
      {"prov version num",
       {{"main.tf", "provider \"a\" {\n version=1\n}\n"}},
       "registry.opentofu.org/hashicorp/a a block main.tf:1:1 `provider \"a\"` 1 `1`",
       ""},
      {"prov version null",
       {{"main.tf", "provider \"a\" {\n version=null\n}\n"}},
       "registry.opentofu.org/hashicorp/a a block main.tf:1:1 `provider \"a\"`",
       ""},
      {"prov version bad",
       {{"main.tf", "provider \"a\" {\n version=\"x\"\n}\n"}},
       "registry.opentofu.org/hashicorp/a a block main.tf:1:1 `provider \"a\"`",
       "error main.tf:2:10 `\"x\"`: \"x\" is not a version constraint: item \"x\" must be an optional operator (=, !=, "
       ">, >=, <, <=, ~>) and a version"},
      {"prov version over",
       {{"main.tf", "provider \"a\" {\n version=\"1.0\"\n}\n"},
        {"override.tf", "provider \"a\" {\n version=\"2.0\"\n}\n"}},
       "registry.opentofu.org/hashicorp/a a block main.tf:1:1 `provider \"a\"` 2.0 `\"2.0\"`",
       ""},
      {"prov version over one that only providers cannot have",
       {{"main.tf", "provider \"a\" {\n version=\">=  1.0\"\n}\n"},
        {"override.tf", "provider \"a\" {\n version=\"2.0\"\n}\n"}},
       "registry.opentofu.org/hashicorp/a a block main.tf:1:1 `provider \"a\"` 2.0 `\"2.0\"`",
       ""},
      {"prov version alias",
       {{"main.tf", "provider \"a\" {\n alias=\"x\"\n version=\"1.0\"\n}\nprovider \"a\" {\n version=\"2.0\"\n}\n"}},
       "registry.opentofu.org/hashicorp/a a block main.tf:1:1 `provider \"a\"` 1.0 `\"1.0\"`\n"
       "registry.opentofu.org/hashicorp/a a block main.tf:5:1 `provider \"a\"` 2.0 `\"2.0\"`",
       ""},
      {"prov upper",
       {{"main.tf", "provider \"A\" {}\n"}},
       "registry.opentofu.org/hashicorp/a A block main.tf:1:1 `provider \"A\"`",
       ""},
      {"prov under",
       {{"main.tf", "provider \"a_b\" {}\n"}},
       "",
       "error main.tf:1:1 `provider \"a_b\"`: invalid provider type \"a_b\" in source \"a_b\": must contain only "
       "letters, "
       "digits, and dashes, and may not use leading or trailing dashes"},
      {"over missing prov",
       {{"main.tf", ""}, {"override.tf", "provider \"a\" {}\n"}},
       "registry.opentofu.org/hashicorp/a a block override.tf:1:1 `provider \"a\"`",
       ""},
  };
  check_requirements(rows);
}

BOOST_AUTO_TEST_CASE(terraform) {
  const RequirementRow rows[] = {
      {"rp obj",
       {{"main.tf", "terraform {\n required_providers {\na = { source=\"x/y\", version=\">= 1, < 2\" }\n}\n}\n"}},
       "registry.terraform.io/x/y a required main.tf:3:1 `a = { source=\"x/y\", version=\">= 1, < 2\" }` >= 1, < 2 "
       "`\">= 1, < 2\"`",
       ""},
      {"rp str",
       {{"main.tf", "terraform {\n required_providers {\na = \"~> 1.0\"\n}\n}\n"}},
       "registry.terraform.io/hashicorp/a a required main.tf:3:1 `a = \"~> 1.0\"` ~> 1.0 `\"~> 1.0\"`",
       ""},
      {"impl single",
       {{"main.tf", "resource \"abc\" \"c\" {}\n"}},
       "registry.terraform.io/hashicorp/abc abc resource abc.c main.tf:1:1 `resource \"abc\" \"c\"`",
       ""},
      {"import inmod",
       {{"main.tf", "import {\n to=module.m.q_b.c\n id=\"x\"\n}\nmodule \"m\" {\n source=\"./m\"\n}\n"}},
       "",
       ""},
      {"ref alias",
       {{"main.tf", "provider \"z\" {\n alias=\"y\"\n}\nresource \"a_b\" \"c\" {\n provider=z.y\n}\n"}},
       "registry.terraform.io/hashicorp/z z block main.tf:1:1 `provider \"z\"`",
       ""},
      {"rp tf hashicorp",
       {{"main.tf", "terraform {\n required_providers {\nterraform = { source=\"hashicorp/terraform\" }\n}\n}\n"}},
       "registry.terraform.io/hashicorp/terraform terraform required main.tf:3:1 `terraform = { "
       "source=\"hashicorp/terraform\" }`",
       ""},
  };
  check_requirements(rows, ClientKind::terraform);
}

BOOST_AUTO_TEST_CASE(test_files) {
  const auto tests = read_texts({{"a.tftest.hcl", "provider \"a\" {}\nprovider \"b\" {}\nrun \"x\" {}\n"},
                                 {"b.tftest.hcl", "provider \"a\" {\n  version = \"~> 1.0\"\n}\n"}},
                                ClientKind::opentofu, ConfigKind::test);
  const auto root =
      read_texts({{"main.tf", "terraform {\n  required_providers {\n    a = { source = \"x/y\" }\n  }\n}\n"},
                  {"b.tf", "resource \"b_c\" \"d\" {}\n"}});
  Diagnostics diagnostics;
  auto requirements = provider_requirements(tests, ClientKind::opentofu, diagnostics);
  BOOST_TEST(describe(requirements, tests) ==
             "registry.opentofu.org/hashicorp/a a block a.tftest.hcl:1:1 `provider \"a\"`\n"
             "registry.opentofu.org/hashicorp/a a block b.tftest.hcl:1:1 `provider \"a\"` ~> 1.0 `\"~> 1.0\"`\n"
             "registry.opentofu.org/hashicorp/b b block a.tftest.hcl:2:1 `provider \"b\"`");
  resolve_local_names(requirements, provider_requirements(root, ClientKind::opentofu, diagnostics));
  BOOST_TEST(describe(requirements, tests) ==
             "registry.opentofu.org/hashicorp/b b block a.tftest.hcl:2:1 `provider \"b\"`\n"
             "registry.opentofu.org/x/y a block a.tftest.hcl:1:1 `provider \"a\"`\n"
             "registry.opentofu.org/x/y a block b.tftest.hcl:1:1 `provider \"a\"` ~> 1.0 `\"~> 1.0\"`");
}

BOOST_AUTO_TEST_SUITE_END()
