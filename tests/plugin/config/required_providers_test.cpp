#include "plugin/config/provider_requirement.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/requirement_texts.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(required_providers)

BOOST_AUTO_TEST_CASE(entries) {
  const RequirementRow rows[] = {
      {"rp str",
       {{"main.tf", "terraform {\n required_providers {\na = \"~> 1.0\"\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required main.tf:3:1 `a = \"~> 1.0\"` ~> 1.0 `\"~> 1.0\"`",
       ""},
      {"two of one type",
       {{"main.tf", "terraform {\n required_providers {\na = { source=\"x/a\" }\nb = { source=\"y/a\" }\n}\n}\n"}},
       "registry.opentofu.org/x/a a required main.tf:3:1 `a = { source=\"x/a\" }`\n"
       "registry.opentofu.org/y/a b required main.tf:4:1 `b = { source=\"y/a\" }`",
       ""},
      {"rp str num",
       {{"main.tf", "terraform {\n required_providers {\na = 2\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required main.tf:3:1 `a = 2` 2 `2`",
       ""},
      {"rp str bool",
       {{"main.tf", "terraform {\n required_providers {\na = true\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required main.tf:3:1 `a = true`",
       "error main.tf:3:5 `true`: \"true\" is not a version constraint: item \"true\" must be an optional operator (=, "
       "!=, >, >=, <, <=, ~>) and a version"},
      {"rp null",
       {{"main.tf", "terraform {\n required_providers {\na = null\n}\n}\n"}},
       "",
       "error main.tf:3:5 `null`: Invalid required_providers object: the entry \"a\" must be a string or an object"},
      {"rp list",
       {{"main.tf", "terraform {\n required_providers {\na = []\n}\n}\n"}},
       "",
       "error main.tf:3:5 `[]`: Invalid required_providers object: the entry \"a\" must be a string or an object"},
      {"rp var",
       {{"main.tf", "terraform {\n required_providers {\na = var.x\n}\n}\n"}},
       "",
       "error main.tf:3:5 `var.x`: Invalid required_providers object: the entry \"a\" must be a string or an object"},
      {"rp bad c",
       {{"main.tf", "terraform {\n required_providers {\na = \"x\"\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required main.tf:3:1 `a = \"x\"`",
       "error main.tf:3:5 `\"x\"`: \"x\" is not a version constraint: item \"x\" must be an optional operator (=, !=, "
       ">, >=, <, <=, ~>) and a version"},
      {"rp v",
       {{"main.tf", "terraform {\n required_providers {\na = \"v1.0\"\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required main.tf:3:1 `a = \"v1.0\"`",
       "error main.tf:3:5 `\"v1.0\"`: \"v1.0\" is not a version constraint: invalid specification \"v1.0\": a \"v\" "
       "prefix should not be used when specifying versions"},
      {"rp empty",
       {{"main.tf", "terraform {\n required_providers {\na = \"\"\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required main.tf:3:1 `a = \"\"`",
       "error main.tf:3:5 `\"\"`: \"\" is not a version constraint: expected at least one version"},
      {"rp upper str",
       {{"main.tf", "terraform {\n required_providers {\nA = \"1.0\"\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a A required main.tf:3:1 `A = \"1.0\"` 1.0 `\"1.0\"`",
       ""},
      {"rp upper obj",
       {{"main.tf", "terraform {\n required_providers {\nA = { version=\"1.0\" }\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a A required main.tf:3:1 `A = { version=\"1.0\" }` 1.0 `\"1.0\"`",
       ""},
      {"rp under",
       {{"main.tf", "terraform {\n required_providers {\na_b = { version=\"1.0\" }\n}\n}\n"}},
       "",
       "error main.tf:3:7 `{ version=\"1.0\" }`: invalid provider type \"a_b\" in source \"a_b\": "
       "must contain only letters, digits, and dashes, and may not use leading or trailing dashes"},
      {"rp under str",
       {{"main.tf", "terraform {\n required_providers {\na_b = \"1.0\"\n}\n}\n"}},
       "",
       "error main.tf:3:7 `\"1.0\"`: invalid provider type \"a_b\" in source \"a_b\": "
       "must contain only letters, digits, and dashes, and may not use leading or trailing dashes"},
      {"rp dashes",
       {{"main.tf", "terraform {\n required_providers {\na--b = \"1.0\"\n}\n}\n"}},
       "",
       "error main.tf:3:8 `\"1.0\"`: invalid provider type \"a--b\" in source \"a--b\": "
       "cannot use multiple consecutive dashes"},
      {"rp obj",
       {{"main.tf", "terraform {\n required_providers {\na = { source=\"x/y\", version=\">= 1, < 2\" }\n}\n}\n"}},
       "registry.opentofu.org/x/y a required main.tf:3:1 `a = { source=\"x/y\", version=\">= 1, < 2\" }` >= 1, < 2 "
       "`\">= 1, < 2\"`",
       ""},
      {"rp unknown key",
       {{"main.tf", "terraform {\n required_providers {\na = { source=\"x/y\", versions=\">= 1, < 2\" }\n}\n}\n"}},
       "registry.opentofu.org/x/y a required main.tf:3:1 `a = { source=\"x/y\", versions=\">= 1, < 2\" }`",
       ""},
      {"rp src num",
       {{"main.tf", "terraform {\n required_providers {\na = { source=1 }\n}\n}\n"}},
       "",
       "error main.tf:3:14 `1`: Invalid source: the source of a provider must be a constant string"},
      {"rp src null",
       {{"main.tf", "terraform {\n required_providers {\na = { source=null }\n}\n}\n"}},
       "",
       "error main.tf:3:14 `null`: Invalid source: the source of a provider must be a constant string"},
      {"rp src bad",
       {{"main.tf", "terraform {\n required_providers {\na = { source=\"x/y/z/w\" }\n}\n}\n"}},
       "",
       "error main.tf:3:14 `\"x/y/z/w\"`: invalid provider source string \"x/y/z/w\": it must be in the format "
       "\"[hostname/][namespace/]name\""},
      {"rp src prefix",
       {{"main.tf", "terraform {\n required_providers {\na = { source=\"x/terraform-provider-y\" }\n}\n}\n"}},
       "",
       "error main.tf:3:14 `\"x/terraform-provider-y\"`: invalid provider type: source \"x/terraform-provider-y\" has "
       "a type with the redundant prefix \"terraform-\", which isn't allowed"},
      {"rp src host",
       {{"main.tf", "terraform {\n required_providers {\na = { source=\"EXAMPLE.com:443/X/Y\" }\n}\n}\n"}},
       "example.com/x/y a required main.tf:3:1 `a = { source=\"EXAMPLE.com:443/X/Y\" }`",
       ""},
      {"rp src idn",
       {{"main.tf", "terraform {\n required_providers {\na = { source=\"bücher.example/X/Y\" }\n}\n}\n"}},
       "bücher.example/x/y a required main.tf:3:1 `a = { source=\"bücher.example/X/Y\" }`",
       ""},
      {"rp ver num",
       {{"main.tf", "terraform {\n required_providers {\na = { version=1 }\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required main.tf:3:1 `a = { version=1 }`",
       "error main.tf:3:15 `1`: Invalid version constraint: the version must be a constant string"},
      {"rp ver null",
       {{"main.tf", "terraform {\n required_providers {\na = { version=null }\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required main.tf:3:1 `a = { version=null }`",
       "error main.tf:3:15 `null`: Invalid version constraint: the version must be a constant string"},
      {"rp ver two",
       {{"main.tf", "terraform {\n required_providers {\na = { version=\">=  1.0\" }\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required main.tf:3:1 `a = { version=\">=  1.0\" }`",
       "error main.tf:3:15 `\">=  1.0\"`: \">=  1.0\" is not a version constraint: invalid specification \">=  1.0\": "
       "only one space is expected after the operator \">=\""},
      {"rp parens",
       {{"main.tf", "terraform {\n required_providers {\na = ({ source=\"x/a\" })\n}\n}\n"}},
       "",
       "error main.tf:3:5 `({ source=\"x/a\" })`: Invalid required_providers object: the entry \"a\" must be a string "
       "or an object"},
      {"rp parens src",
       {{"main.tf", "terraform {\n required_providers {\na = { source=(\"x/a\") }\n}\n}\n"}},
       "registry.opentofu.org/x/a a required main.tf:3:1 `a = { source=(\"x/a\") }`",
       ""},
      {"rp paren key",
       {{"main.tf", "terraform {\n required_providers {\na = { (\"source\")=\"x/a\" }\n}\n}\n"}},
       "registry.opentofu.org/x/a a required main.tf:3:1 `a = { (\"source\")=\"x/a\" }`",
       ""},
      {"rp quoted key",
       {{"main.tf", "terraform {\n required_providers {\na = { \"source\"=\"x/a\" }\n}\n}\n"}},
       "registry.opentofu.org/x/a a required main.tf:3:1 `a = { \"source\"=\"x/a\" }`",
       ""},
      {"rp use",
       {{"main.tf",
         "terraform {\n required_providers {\na = { source=\"x/a\" }\n}\n}\nresource \"a_x\" \"y\" {}\ndata \"a_z\" "
         "\"y\" {}\n"}},
       "registry.opentofu.org/x/a a required main.tf:3:1 `a = { source=\"x/a\" }`",
       ""},
      {"tf rp dup",
       {{"main.tf",
         "terraform {\nrequired_providers {\na={source=\"x/a\"}\n}\nrequired_providers {\na={source=\"y/a\"}\n}\n}\n"}},
       "registry.opentofu.org/y/a a required main.tf:6:1 `a={source=\"y/a\"}`",
       ""},
      {"over rp",
       {{"main.tf", "terraform {\n required_providers {\n a = { source=\"x/a\" }\n}\n}\n"},
        {"override.tf", "terraform {\n required_providers {\n a = { source=\"y/a\" }\n}\n}\n"}},
       "registry.opentofu.org/y/a a required override.tf:3:2 `a = { source=\"y/a\" }`",
       ""},
      {"over rp version that only providers cannot have",
       {{"main.tf", "terraform {\n required_providers {\n a = { version=\">=  1.0\" }\n}\n}\n"},
        {"override.tf", "terraform {\n required_providers {\n a = {}\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required override.tf:3:2 `a = {}`",
       ""},
      {"over rp version that nobody can have",
       {{"main.tf", "terraform {\n required_providers {\n a = { version=\"new\" }\n}\n}\n"},
        {"override.tf", "terraform {\n required_providers {\n a = {}\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required override.tf:3:2 `a = {}`",
       ""},
      {"j rp",
       {{"main.tf.json",
         "{\"terraform\":{\"required_providers\":{\"a\":{\"source\":\"x/a\",\"version\":\"~> "
         "1\",\"configuration_aliases\":[\"a.x\"]},\"b\":\"~> 2\"}}}"}},
       "registry.opentofu.org/hashicorp/b b required main.tf.json:1:107 `\"b\":\"~> 2\"` ~> 2 `\"~> 2\"`\n"
       "registry.opentofu.org/x/a a required main.tf.json:1:37 `\"a\":{\"source\":\"x/a\",\"version\":\"~> "
       "1\",\"configuration_aliases\":[\"a.x\"]}` ~> 1 `\"~> 1\"`",
       ""},
      {"j rp unknown key",
       {{"main.tf.json", "{\"terraform\":{\"required_providers\":{\"a\":{\"source\":\"x/a\",\"foo\":1}}}}"}},
       "registry.opentofu.org/x/a a required main.tf.json:1:37 `\"a\":{\"source\":\"x/a\",\"foo\":1}`",
       ""},
  };
  check_requirements(rows);
}

BOOST_AUTO_TEST_CASE(constants) {
  const RequirementRow rows[] = {
      {"version only",
       {{"main.tf", "terraform {\n required_providers {\na = \"~> ${1}.0\"\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required main.tf:3:1 `a = \"~> ${1}.0\"` ~> 1.0 `\"~> ${1}.0\"`",
       ""},
      {"version only by arithmetic",
       {{"main.tf", "terraform {\n required_providers {\na = 1 + 1\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required main.tf:3:1 `a = 1 + 1` 2 `1 + 1`",
       ""},
      {"version only that is a null string",
       {{"main.tf", "terraform {\n required_providers {\na = true ? null : \"1\"\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a required main.tf:3:1 `a = true ? null : \"1\"`",
       ""},
      {"source and version",
       {{"main.tf",
         "terraform {\n required_providers {\na = { source=\"${\"x\"}/y\", version=true ? \"1\" : \"2\" }\n}\n}\n"}},
       "registry.opentofu.org/x/y a required main.tf:3:1 `a = { source=\"${\"x\"}/y\", version=true ? \"1\" : \"2\" }` "
       "1 "
       "`true ? \"1\" : \"2\"`",
       ""},
      {"name of an argument",
       {{"main.tf", "terraform {\n required_providers {\na = { \"so${\"urce\"}\"=\"x/y\" }\n}\n}\n"}},
       "registry.opentofu.org/x/y a required main.tf:3:1 `a = { \"so${\"urce\"}\"=\"x/y\" }`",
       ""},
      {"a conditional between objects",
       {{"main.tf", "terraform {\n required_providers {\na = true ? { source=\"x/y\" } : {}\n}\n}\n"}},
       "",
       "error main.tf:3:5 `true ? { source=\"x/y\" } : {}`: Invalid required_providers object: the entry \"a\" must be "
       "a string or an object"},
      {"a function",
       {{"main.tf", "terraform {\n required_providers {\na = { source=lower(\"x/y\") }\n}\n}\n"}},
       "",
       "error main.tf:3:14 `lower(\"x/y\")`: Invalid source: the source of a provider must be a constant string"},
      {"JSON has no templates here",
       {{"main.tf.json", "{\"terraform\":{\"required_providers\":{\"a\":\"${1}\"}}}"}},
       "registry.opentofu.org/hashicorp/a a required main.tf.json:1:37 `\"a\":\"${1}\"`",
       "error main.tf.json:1:41 `\"${1}\"`: \"${1}\" is not a version constraint: item \"${1}\" must be an optional "
       "operator (=, !=, >, >=, <, <=, ~>) and a version"},
      {"a type that repeats what it is for, alone",
       {{"main.tf", "terraform {\n required_providers {\nterraform-x = {}\na = { source=\"opentofu-a\" }\n}\n}\n"}},
       "registry.opentofu.org/hashicorp/opentofu-a a required main.tf:4:1 `a = { source=\"opentofu-a\" }`\n"
       "registry.opentofu.org/hashicorp/terraform-x terraform-x required main.tf:3:1 `terraform-x = {}`",
       ""},
  };
  check_requirements(rows);
}

BOOST_AUTO_TEST_CASE(configuration_aliases) {
  const RequirementRow rows[] = {
      {"rp alias",
       {{"main.tf",
         "terraform {\n required_providers {\na = { source=\"x/a\", configuration_aliases=[a.x, a.y] }\n}\n}\n"}},
       "registry.opentofu.org/x/a a required main.tf:3:1 `a = { source=\"x/a\", configuration_aliases=[a.x, a.y] }`",
       ""},
      {"rp alias bare",
       {{"main.tf", "terraform {\n required_providers {\na = { source=\"x/a\", configuration_aliases=[a] }\n}\n}\n"}},
       "registry.opentofu.org/x/a a required main.tf:3:1 `a = { source=\"x/a\", configuration_aliases=[a] }`",
       ""},
      {"rp alias notlist",
       {{"main.tf", "terraform {\n required_providers {\na = { source=\"x/a\", configuration_aliases=a.x }\n}\n}\n"}},
       "registry.opentofu.org/x/a a required main.tf:3:1 `a = { source=\"x/a\", configuration_aliases=a.x }`",
       ""},
  };
  check_requirements(rows);
}

BOOST_AUTO_TEST_SUITE_END()
