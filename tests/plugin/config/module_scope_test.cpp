#include "plugin/config/module_scope.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/scope_setup.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(module_scope)

BOOST_AUTO_TEST_CASE(names) {
  struct Row {
    const char* name;
    std::string_view source;
    std::string_view value;
  };
  const Row rows[] = {
      {"written out", "\"./m\"", "\"./m\""},
      {"local value", "local.a", "\"./a\""},
      {"local value of others", "local.b", "\"./a/b\""},
      {"part of a local value", "local.c.d[1]", "\"y\""},
      {"variable with a default", "var.v", "\"v\""},
      {"path.module", "path.module", "\".\""},
      {"path.root", "path.root", "\".\""},
      {"path.cwd", "path.cwd", "\"/r\""},
      {"terraform.workspace", "terraform.workspace", "\"blue\""},
      {"tofu.workspace", "tofu.workspace", "\"blue\""},
      {"sensitive", "\"x-${var.s}\"", "\"x-s\"!sensitive"},
      {"ephemeral", "var.e", "\"e\"!ephemeral"},
  };
  ScopeContext environment = test_surroundings();
  environment.workspace = "blue";
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TestModule root = root_module(
          environment,
          {{"main.tf", fmt::format("module \"m\" {{\n  source = {}\n}}\n", row.source)},
           {"names.tf",
            "locals {\n  a = \"./a\"\n  b = \"${local.a}/b\"\n  c = { d = [\"x\", \"y\"] }\n}\n"
            "variable \"v\" {\n  default = \"v\"\n}\nvariable \"s\" {\n  default = \"s\"\n  sensitive = true\n}\n"
            "variable \"e\" {\n  default = \"e\"\n  ephemeral = true\n}\n"}});
      BOOST_TEST(root.source() == row.value);
      BOOST_TEST(root.source() == row.value);
    }
  }
}

BOOST_AUTO_TEST_CASE(values_of_root_variables) {
  struct Row {
    const char* name;
    std::string_view variable;
    VariableInputs inputs;
    FileTexts files;
    std::string_view value;
  };
  const Row rows[] = {
      {"a default", "default = 1", {}, {}, "1"},
      {"a file over the default", "default = 1", {}, {{"terraform.tfvars", "x = 2\n"}}, "2"},
      {"converted", "type = string", {}, {{"terraform.tfvars", "x = 2\n"}}, "\"2\""},
      {"with the defaults of attributes",
       "type = object({ a = optional(number, 1), b = string })",
       {},
       {{"terraform.tfvars", "x = { b = true }\n"}},
       "{a = 1, b = \"true\"}"},
      {"null where it may be", "default = 1", {}, {{"terraform.tfvars", "x = null\n"}}, "null"},
      {"null where it must not be: the default",
       "default = 1\n  nullable = false",
       {},
       {{"terraform.tfvars", "x = null\n"}},
       "1"},
      {"JSON strings are no templates",
       "",
       {},
       {{"terraform.tfvars.json", R"({"x": ["${a}", {"b": 1e2}]})"}},
       "[\"${a}\", {b = 100}]"},
      {"text for a string", "type = string", {.arguments = {{"x", "[1]"}}}, {}, "\"[1]\""},
      {"text for no type", "", {.arguments = {{"x", "true"}}}, {}, "\"true\""},
      {"text for a number", "type = number", {.arguments = {{"x", "1.50"}}}, {}, "1.5"},
      {"text for a bool", "type = bool", {.environment = {{"x", "true"}}}, {}, "true"},
      {"text for a list", "type = list(string)", {.arguments = {{"x", "[\"a\", 1]"}}}, {}, "[\"a\", \"1\"]"},
      {"text for any", "type = any", {.arguments = {{"x", "{ a = 1 }"}}}, {}, "{a = 1}"},
      {"marks", "sensitive = true\n  ephemeral = true", {.arguments = {{"x", "a"}}}, {}, "\"a\"!sensitive!ephemeral"},
      {"const is not asked for", "const = false\n  default = 1", {}, {}, "1"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ScopeContext environment = test_surroundings();
      const TestModule root = root_module(
          environment,
          {{"main.tf",
            fmt::format("variable \"x\" {{\n  {}\n}}\nmodule \"m\" {{\n  source = var.x\n}}\n", row.variable)}},
          row.inputs, row.files);
      BOOST_TEST(root.source() == row.value);
    }
  }
}

BOOST_AUTO_TEST_CASE(values_of_called_modules) {
  const ScopeContext environment = test_surroundings();
  const TestModule root =
      root_module(environment, {{"main.tf",
                                 "locals {\n  v = \"1.0\"\n}\n"
                                 "module \"child\" {\n  source = \"./child\"\n  base = local.v\n  where = path.module\n"
                                 "  typed = { a = 1 }\n  none = null\n}\n"}});
  const TestModule child = child_module(
      environment, root, "child",
      {{"main.tf",
        "variable \"base\" {}\nvariable \"where\" {}\nvariable \"unset\" {\n  default = \"d\"\n}\n"
        "variable \"typed\" {\n  type = object({ a = string, b = optional(string, \"c\") })\n}\n"
        "variable \"none\" {\n  default = \"e\"\n  nullable = false\n}\n"
        "locals {\n  v = \"2.0\"\n}\n"
        "module \"m\" {\n  source = \"${var.base} ${local.v} ${var.where} ${path.module} ${path.root} ${var.unset} "
        "${var.typed.a}${var.typed.b} ${var.none}\"\n}\n"
        "module \"n\" {\n  source = var.base\n  base = \"${var.base}-x\"\n}\n"}});
  BOOST_TEST(child.source() == "\"1.0 2.0 . child . d 1c e\"");
  const TestModule grandchild = child_module(
      environment, child, "n", {{"main.tf", "variable \"base\" {}\nmodule \"m\" {\n  source = var.base\n}\n"}});
  BOOST_TEST(grandchild.source() == "\"1.0-x\"");
}

BOOST_AUTO_TEST_CASE(marks_come_down_from_the_caller) {
  const ScopeContext environment = test_surroundings();
  const TestModule root =
      root_module(environment, {{"main.tf",
                                 "variable \"s\" {\n  default = \"x\"\n  sensitive = true\n}\nmodule \"child\" {\n  "
                                 "source = \"./c\"\n  a = var.s\n}\n"}});
  const TestModule child = child_module(environment, root, "child",
                                        {{"main.tf", "variable \"a\" {}\nmodule \"m\" {\n  source = var.a\n}\n"}});
  BOOST_TEST(child.source() == "\"x\"!sensitive");
}

// As Terraform 1.15 computes sources.
BOOST_AUTO_TEST_CASE(terraform_computes_sources_from_const_variables) {
  ScopeContext environment = test_surroundings();
  environment.tool = ClientKind::terraform;
  constexpr std::string_view kVariables =
      "variable \"c\" {\n  default = \"./m\"\n  const = true\n}\nvariable \"v\" {\n  default = \"./v\"\n}\n";
  const auto not_const = [](std::string_view place, std::string_view needed_by) {
    return fmt::format(
        "CONFIG_NON_STATIC {}: only literal values and const variables have a value during init: var.v is not const, "
        "and {} needs it\n  hint: add const = true to variable \"v\", or write a literal value",
        place, needed_by);
  };
  struct Row {
    const char* name;
    std::string source;
    std::string value;
  };
  const Row rows[] = {
      {"a literal", "\"./m\"", "\"./m\""},
      {"a const variable", "var.c", "\"./m\""},
      {"a template", "\"${var.c}/x\"", "\"./m/x\""},
      {"a function", "lower(\"./M\")", "\"./m\""},
      {"a local value", "local.l", "\"./m/l\""},
      {"the path of the module", "\"${path.module}/m\"", "\"./m\""},
      {"a variable that is not const", "var.v", not_const("main.tf:2:12", "module.m.source")},
      {"an unknown name in a part that is not selected", "true ? \"./m\" : var.none", "\"./m\""},
      {"the workspace", "terraform.workspace",
       "CONFIG_NON_STATIC main.tf:2:12: Dynamic value in static context: terraform.workspace is not known before plan, "
       "and module.m.source needs it\n  hint: use only const variables, local values and path.* here"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TestModule root = root_module(
          environment,
          {{"main.tf", fmt::format("module \"m\" {{\n  source = {}\n}}\n", row.source)},
           {"names.tf", fmt::format("{}locals {{\n  l = \"${{var.c}}/l\"\n  d = data.x.y.z\n}}\n", kVariables)}});
      BOOST_TEST(root.source() == row.value);
    }
  }
  const FileTexts json = {{"main.tf.json", R"({"module": {"m": {"source": "${var.c}"}}})"},
                          {"v.tf", std::string(kVariables)}};
  BOOST_TEST(root_module(environment, json).source() == "\"./m\"");
  BOOST_TEST(root_module(environment, json, {}, {{"terraform.tfvars", "c = \"./t\"\n"}}).source() == "\"./t\"");
}

BOOST_AUTO_TEST_CASE(terraform_passes_const_values_to_called_modules) {
  ScopeContext environment = test_surroundings();
  environment.tool = ClientKind::terraform;
  const TestModule root = root_module(
      environment, {{"main.tf",
                     "variable \"v\" {\n  default = \"./v\"\n}\nmodule \"child\" {\n  source = \"./c\"\n  a = "
                     "\"./a\"\n  b = var.v\n}\n"}});
  const auto source = [&](std::string_view argument) {
    return child_module(environment, root, "child",
                        {{"main.tf", fmt::format("variable \"{0}\" {{\n  const = true\n}}\nmodule \"m\" {{\n  source "
                                                 "= var.{0}\n}}\n",
                                                 argument)}})
        .source();
  };
  BOOST_TEST(source("a") == "\"./a\"");
  BOOST_TEST(
      source("b") ==
      "CONFIG_NON_STATIC main.tf:7:7: only literal values and const variables have a value during init: var.v is "
      "not const, and module.child:var.b needs it\n"
      "  child/main.tf:5:12: referenced by module.m.source\n"
      "  hint: add const = true to variable \"v\", or write a literal value");
}

BOOST_AUTO_TEST_SUITE_END()
