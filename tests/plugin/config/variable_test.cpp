#include "plugin/config/variable.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/scope_setup.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(variable)

namespace {

// "name type default flags; …"
std::string summary(const VariableBlocks& variables) {
  std::string text;
  for (const std::string_view name : variables.names()) {
    const VariableDeclaration variable = *variables.find(name);
    text += fmt::format("{}{}: {}{}", text.empty() ? "" : "; ", name,
                        variable.has_type ? variable.type.type.friendly_name() : "-",
                        variable.default_value ? " = " + show(*variable.default_value) : "");
    text += variable.default_problem ? " broken" : "";
    text += variable.problem ? " unusable" : "";
    text += variable.sensitive ? " sensitive" : "";
    text += variable.ephemeral ? " ephemeral" : "";
    text += variable.nullable ? "" : " not null";
    text += variable.is_const ? " const" : "";
  }
  return text;
}

struct Row {
  const char* name;
  FileTexts files;
  std::string_view variables;
  std::string_view problems = "";
};

void check(const Row& row) {
  BOOST_TEST_CONTEXT(row.name) {
    const auto files = config_texts(row.files);
    const VariableBlocks variables(files);
    BOOST_TEST(summary(variables) == row.variables);
    Diagnostics problems;
    for (const std::string_view name : variables.names()) {
      const VariableDeclaration variable = *variables.find(name);
      for (const auto& problem : {variable.problem, variable.default_problem}) {
        if (problem) {
          problems.push_back({Severity::error, *problem});
        }
      }
    }
    BOOST_TEST(show(problems) == row.problems);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(declarations) {
  const Row rows[] = {
      {"none", {{"a.tf", "locals {}\n"}}, ""},
      {"bare", {{"a.tf", "variable \"a\" {}\nvariable b {}\n"}}, "a: -; b: -"},
      {"type", {{"a.tf", "variable \"a\" {\n  type = list(string)\n}\n"}}, "a: list of string"},
      {"the default is converted",
       {{"a.tf", "variable \"a\" {\n  type    = number\n  default = \"05\"\n}\n"}},
       "a: number = 5"},
      {"an untyped default stays what it is",
       {{"a.tf", "variable \"a\" {\n  default = [1, \"b\"]\n}\n"}},
       "a: - = [1, \"b\"]"},
      {"a null default", {{"a.tf", "variable \"a\" {\n  type = string\n  default = null\n}\n"}}, "a: string = null"},
      {"defaults of attributes",
       {{"a.tf", "variable \"a\" {\n  type = object({ x = optional(string, \"y\") })\n  default = {}\n}\n"}},
       "a: object = {x = \"y\"}"},
      {"not those of a null default",
       {{"a.tf", "variable \"a\" {\n  type = object({ x = optional(string, \"y\") })\n  default = null\n}\n"}},
       "a: object = null"},
      {"flags",
       {{"a.tf",
         "variable \"a\" {\n  sensitive = true\n  ephemeral = true\n  nullable = false\n}\n"
         "variable \"b\" {\n  const = true\n}\n"}},
       "a: - sensitive ephemeral not null; b: - const"},
      {"flags that convert",
       {{"a.tf", "variable \"a\" {\n  nullable = \"false\"\n  description = 5\n}\n"}},
       "a: - not null"},
      {"a for has its own names",
       {{"a.tf", "variable \"a\" {\n  default = [for v in [\"x\"] : v]\n}\n"}},
       "a: - = [\"x\"]"},
      {"JSON",
       {{"a.tf.json", R"json({"variable": {"a": {"type": "set(number)", "default": [2, 1], "nullable": false}}})json"}},
       "a: set of number = [1, 2] not null"},
      {"JSON strings are no templates",
       {{"a.tf.json", R"({"variable": {"a": {"default": "${b} %{c}"}}})"}},
       "a: - = \"${b} %{c}\""},
      {"a block without name is not ours to report", {{"a.tf", "variable {}\nvariable \"a\" \"b\" {}\n"}}, ""},
  };
  for (const Row& row : rows) {
    check(row);
  }
}

BOOST_AUTO_TEST_CASE(wrong_declarations) {
  const Row rows[] = {
      {"twice: the later counts",
       {{"a.tf", "variable \"a\" {\n  default = 1\n}\n"}, {"b.tf", "variable \"a\" {\n  default = 2\n}\n"}},
       "a: - = 2"},
      {"a reference in a default",
       {{"a.tf", "variable \"a\" {\n  default = \"x-${local.b}\"\n}\n"}},
       "a: - broken",
       "CONFIG_PARSE a.tf:2:18: variables not allowed: expected a literal value, found local.b\n"
       "  hint: write a literal value"},
      {"a call in a default",
       {{"a.tf", "variable \"a\" {\n  default = [\"x\", upper(\"y\")]\n}\n"}},
       "a: - broken",
       "CONFIG_PARSE a.tf:2:19: function calls not allowed: expected a literal value, found upper()\n"
       "  hint: write a literal value"},
      {"a default of another type",
       {{"a.tf", "variable \"a\" {\n  type = number\n  default = \"x\"\n}\n"}},
       "a: number broken",
       "CONFIG_PARSE a.tf:3:13: the default value of variable \"a\" is not compatible with its type constraint: a "
       "number is required"},
      {"a default of another type that must not be seen",
       {{"a.tf", "variable \"a\" {\n  sensitive = true\n  type = number\n  default = \"secret\"\n}\n"}},
       "a: number broken sensitive",
       "CONFIG_PARSE a.tf:1:1: the default value of variable \"a\" is not compatible with its type constraint: a "
       "number is required"},
      {"a flag that is none",
       {{"a.tf", "variable \"a\" {\n  sensitive = \"yes\"\n  nullable = null\n}\n"}},
       "a: - unusable",
       "CONFIG_PARSE a.tf:3:14: nullable of variable \"a\" must be a bool, found null"},
      {"a type that is none",
       {{"a.tf", "variable \"a\" {\n  type = strin\n}\n"}},
       "a: - unusable",
       "CONFIG_PARSE a.tf:2:10: invalid type specification: the keyword \"strin\" is not a valid type specification\n"
       "  hint: write a type such as string, list(string) or object({ name = string })"},
      {"what nobody asks for",
       {{"a.tf", "variable \"a\" {\n  description = [1]\n  deprecated = \" \"\n  later = var.x\n  more {}\n}\n"}},
       "a: -"},
  };
  for (const Row& row : rows) {
    check(row);
  }
}

BOOST_AUTO_TEST_CASE(overrides) {
  const Row rows[] = {
      {"each argument for itself",
       {{"a.tf", "variable \"a\" {\n  type = string\n  default = \"x\"\n  sensitive = true\n}\n"},
        {"a_override.tf", "variable \"a\" {\n  default = 5\n  nullable = false\n}\n"},
        {"override.tf", "variable \"a\" {\n  sensitive = false\n}\n"}},
       "a: string = \"5\" not null"},
      {"the type: the default goes through both types",
       {{"a.tf", "variable \"a\" {\n  type = number\n  default = \"05\"\n}\n"},
        {"override.tf", "variable \"a\" {\n  type = string\n}\n"}},
       "a: string = \"5\""},
      {"the type: the defaults of attributes stay",
       {{"a.tf", "variable \"a\" {\n  type = object({ x = optional(string, \"old\") })\n  default = {}\n}\n"},
        {"override.tf", "variable \"a\" {\n  type = object({ x = optional(string, \"new\") })\n}\n"}},
       "a: object = {x = \"old\"}"},
      {"the type does not fit the default",
       {{"a.tf", "variable \"a\" {\n  default = \"x\"\n}\n"},
        {"override.tf", "variable \"a\" {\n  type = number\n}\n"}},
       "a: number broken",
       "CONFIG_PARSE override.tf:1:1: the default value of variable \"a\" is not compatible with its type constraint: "
       "a "
       "number is required"},
      {"the default does not fit the type",
       {{"a.tf", "variable \"a\" {\n  type = number\n}\n"},
        {"override.tf", "variable \"a\" {\n  default = \"x\"\n}\n"}},
       "a: number broken",
       "CONFIG_PARSE override.tf:2:13: the default value of variable \"a\" is not compatible with its type constraint: "
       "a "
       "number is required"},
      {"of nothing", {{"a.tf", "variable \"a\" {}\n"}, {"override.tf", "variable \"b\" {}\n"}}, "a: -"},
  };
  for (const Row& row : rows) {
    check(row);
  }
}

BOOST_AUTO_TEST_CASE(text_is_literal_for_primitive_and_untyped_variables) {
  const auto files = config_texts({{"a.tf",
                                    "variable \"none\" {}\nvariable \"string\" {\n  type = string\n}\n"
                                    "variable \"number\" {\n  type = number\n}\nvariable \"any\" {\n  type = any\n}\n"
                                    "variable \"list\" {\n  type = list(string)\n}\n"}});
  std::string literal;
  const VariableBlocks variables(files);
  for (const std::string_view name : variables.names()) {
    literal += variables.find(name)->takes_literal_text() ? std::string(name) + " " : "";
  }
  BOOST_TEST(literal == "none number string ");
}

BOOST_AUTO_TEST_CASE(local_values) {
  struct LocalsRow {
    const char* name;
    FileTexts files;
    std::string_view locals;  // "name file:line"
  };
  const LocalsRow rows[] = {
      {"of all blocks and files",
       {{"a.tf", "locals {\n  a = 1\n}\nlocals {\n  b = 2\n}\n"}, {"b.tf.json", R"({"locals": {"c": 3}})"}},
       "a a.tf:2 b a.tf:5 c b.tf.json:1 "},
      {"overridden, the last wins",
       {{"a.tf", "locals {\n  a = 1\n}\n"},
        {"a_override.tf", "locals {\n\n  a = 2\n}\n"},
        {"override.tf", "locals {\n  a = 3\n}\n"}},
       "a override.tf:2 "},
      {"twice", {{"a.tf", "locals {\n  a = 1\n}\n"}, {"b.tf", "locals {\n  a = 2\n}\n"}}, "a b.tf:2 "},
      {"an override of nothing", {{"a.tf", ""}, {"override.tf", "locals {\n  a = 1\n}\n"}}, ""},
  };
  for (const LocalsRow& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto files = config_texts(row.files);
      std::string locals;
      const LocalValues values(files);
      for (const std::string_view name : values.names()) {
        const Argument argument = values.find(name);
        locals += fmt::format("{} {}:{} ", name, argument.file->path, argument.attribute->range().start.line);
      }
      BOOST_TEST(locals == row.locals);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
