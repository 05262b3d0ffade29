#include "plugin/eval/type_constraint.h"

#include <boost/test/unit_test.hpp>

#include <string>

#include "plugin/hcl/parser.h"
#include "tests/plugin/value/notation.h"

namespace {

using namespace modlock;
using namespace modlock::eval;
using modlock::test::notation;
using modlock::test::parse_argument;

std::string show_defaults(const Defaults& defaults) {
  std::string out;
  for (const auto& [name, value] : defaults.values) out += name + "=" + test::notation(value) + ";";
  for (const auto& [name, child] : defaults.children) out += name + "{" + show_defaults(*child) + "}";
  return out;
}

Result<TypeConstraint> read(const std::string& text) {
  const hcl::ParsedFile file = parse_argument(text);
  return parse_type_constraint(file.body.attributes.at(0).value, "main.tf");
}

Result<TypeConstraint> read_json(const std::string& text) {
  hcl::Expression expression;
  expression.node = hcl::JsonString{.text = text, .shifts = {}};
  expression.range.start = {.line = 2, .column = 10, .byte = 20};
  const auto size = static_cast<std::uint32_t>(text.size());
  expression.range.end = {.line = 2, .column = 12 + size, .byte = 22 + size};
  return parse_type_constraint(expression, "main.tf.json");
}

BOOST_AUTO_TEST_SUITE(type_constraint)

BOOST_AUTO_TEST_CASE(types) {
  struct Row {
    const char* text;
    const char* type;
    const char* defaults = "";
  };
  const Row rows[] = {
      {"string", "string"},
      {"any", "any"},
      {"list", "list(any)"},
      {"map", "map(any)"},
      {"list(any)", "list(any)"},
      {"set(map(number))", "set(map(number))"},
      {"tuple([string, list(bool)])", "tuple([string,list(bool)])"},
      {"tuple([])", "tuple([])"},
      {"object({})", "object({})"},
      {"object({a = string, b = optional(number)})", "object({a=string,b?=number})"},
      {"object({true = string, null = number})", "object({null=number,true=string})"},
      {"object({a = optional(string, 1)})", "object({a?=string})", "a='1';"},
      {"object({a = optional(string, null)})", "object({a?=string})", "a=null:string;"},
      {"object({a = optional(number, 60 * 60)})", "object({a?=number})", "a=3600;"},
      {"object({a = optional(list(string), [1, true])})", "object({a?=list(string)})", "a=['1','true'];"},
      {"object({a = optional(list(string), [for x in [1, 2] : x])})", "object({a?=list(string)})", "a=['1','2'];"},
      {"list(object({a = optional(object({b = optional(string, \"z\")}), {})}))",
       "list(object({a?=object({b?=string})}))", "{a=<b=null:string>;a{b='z';}}"},
      {"tuple([string, object({a = optional(string, \"x\")})])", "tuple([string,object({a?=string})])", "1{a='x';}"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      for (const auto& constraint : {read(row.text), read_json(row.text)}) {
        BOOST_TEST_REQUIRE(constraint.has_value());
        BOOST_TEST(notation(constraint->type) == row.type);
        BOOST_TEST((constraint->defaults ? show_defaults(*constraint->defaults) : "") == row.defaults);
      }
    }
  }
}

// OpenTofu refuses the same, at the same place (`type = ` there is `x = ` here).
BOOST_AUTO_TEST_CASE(errors) {
  const std::string kNoType =
      "a type specification is either a primitive type keyword (bool, number, string) or a complex type constructor "
      "call, like list(string)";
  const std::string kOneElement = " type constructor requires one argument specifying the element type";
  const std::string kObject =
      "the object type constructor requires one argument specifying the attribute types and values as a map";
  struct Row {
    const char* text;
    std::string message;
    std::size_t start;
    std::size_t end;
  };
  const Row rows[] = {
      {"(string)", kNoType, 5, 13},
      {"\"${string}\"", kNoType, 5, 16},
      {"1", kNoType, 5, 6},
      {"[string]", kNoType, 5, 13},
      {"a.b", kNoType, 5, 8},
      {"list([string]...)", kNoType, 10, 18},
      {"foo", "the keyword \"foo\" is not a valid type specification", 5, 8},
      {"null", "the keyword \"null\" is not a valid type specification", 5, 9},
      {"set", "the set" + kOneElement, 5, 8},
      {"list(list)", "the list" + kOneElement, 10, 14},
      {"list()", "the list" + kOneElement, 9, 11},
      {"list(string, number, any)", "the list" + kOneElement, 18, 29},
      {"object", kObject, 5, 11},
      {"object({a = string}, string)", kObject, 26, 32},
      {"tuple", "the tuple type constructor requires one argument specifying the element types as a list", 5, 10},
      {"string()", "primitive type keyword \"string\" does not expect arguments", 11, 13},
      {"any(1)", "type constraint keyword \"any\" does not expect arguments", 8, 11},
      {"foo(string)", "keyword \"foo\" is not a valid type constructor", 5, 16},
      {"optional(string)", "keyword \"optional\" is valid only as a modifier for object type attributes", 5, 13},
      {"list(optional(string))", "keyword \"optional\" is valid only as a modifier for object type attributes", 10, 18},
      {"tuple(string)", "tuple type constructor requires a list of element types", 11, 17},
      {"object([string])",
       "object type constructor requires a map whose keys are attribute names and whose values are the corresponding "
       "attribute types",
       12, 20},
      {"object({a = string, a = number})", "object constructor map keys must be unique", 25, 26},
      {"object({\"a\" = string})", "object constructor map keys must be attribute names", 13, 16},
      {"object({(a) = string})", "object constructor map keys must be attribute names", 13, 16},
      {"object({a = optional()})", "optional attribute modifier requires the attribute type as its argument", 25, 27},
      {"object({a = optional(string, 1, 2)})",
       "optional attribute modifier expects at most two arguments: the attribute type, and a default value", 25, 39},
      {"object({a = optional(optional(string))})",
       "keyword \"optional\" is valid only as a modifier for object type attributes", 26, 34},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto constraint = read(row.text);
      BOOST_TEST_REQUIRE(!constraint.has_value());
      const Error& error = constraint.error();
      BOOST_TEST((error.code == Code::config_parse));
      BOOST_TEST(error.message == "invalid type specification: " + row.message);
      BOOST_TEST(error.hint == "write a type such as string, list(string) or object({ name = string })");
      BOOST_TEST(error.location->path == "main.tf");
      BOOST_TEST(error.location->range->start.column == row.start);
      BOOST_TEST(error.location->range->end.column == row.end);
    }
  }
}

BOOST_AUTO_TEST_CASE(other_errors) {
  struct Row {
    const char* text;
    const char* message;
    const char* hint;
    std::size_t column;
  };
  const Row rows[] = {
      {"object({a = optional(number, \"x\")})",
       "invalid default value for optional attribute \"a\": this default value is not compatible with the attribute's "
       "type constraint: a number is required",
       "write a default value of the attribute's type", 34},
      {"object({a = optional(string, upper(\"x\"))})",
       "function calls not allowed: expected a literal value, found upper()", "write a literal value", 34},
      {"object({a = optional(string, var.b)})", "variables not allowed: expected a literal value, found var.b",
       "write a literal value", 34},
      {"\"string\"",
       "invalid quoted type constraint \"string\": OpenTofu 0.11 and earlier required the quotes, later versions "
       "reject them",
       "remove the quotes around \"string\"", 5},
      {"\"list\"",
       "invalid quoted type constraint \"list\": OpenTofu 0.11 and earlier required the quotes, later versions reject "
       "them",
       "remove the quotes around \"list\" and write list(string) instead", 5},
      {"\"m${\"ap\"}\"",
       "invalid quoted type constraint \"map\": OpenTofu 0.11 and earlier required the quotes, later versions reject "
       "them",
       "remove the quotes around \"map\" and write map(string) instead", 5},
      {"\"number\"", "invalid legacy variable type hint \"number\": expected a type without quotes",
       "remove the surrounding quotes and give the type expression directly", 5},
      {"\"\"", "invalid legacy variable type hint \"\": expected a type without quotes",
       "remove the surrounding quotes and give the type expression directly", 5},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto constraint = read(row.text);
      BOOST_TEST_REQUIRE(!constraint.has_value());
      BOOST_TEST((constraint.error().code == Code::config_parse));
      BOOST_TEST(constraint.error().message == row.message);
      BOOST_TEST(constraint.error().hint == row.hint);
      BOOST_TEST(constraint.error().location->range->start.column == row.column);
    }
  }
}

BOOST_AUTO_TEST_CASE(json_errors) {
  struct Row {
    const char* text;
    std::size_t start;
    std::size_t end;
  };
  const Row rows[] = {{"list(foo)", 16, 19}, {"\"string\"", 11, 19}, {"list(", 10, 17}, {"", 10, 12}};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto constraint = read_json(row.text);
      BOOST_TEST_REQUIRE(!constraint.has_value());
      BOOST_TEST((constraint.error().code == Code::config_parse));
      BOOST_TEST(constraint.error().message.substr(0, 28) == "invalid type specification: ");
      BOOST_TEST(constraint.error().location->path == "main.tf.json");
      BOOST_TEST(constraint.error().location->range->start.column == row.start);
      BOOST_TEST(constraint.error().location->range->end.column == row.end);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

using modlock::test::value_of;

TypeConstraint constraint_of(const char* text) {
  const modlock::hcl::ParsedFile file = parse_argument(text);
  return parse_type_constraint(file.body.attributes.at(0).value, "main.tf").value();
}

BOOST_AUTO_TEST_SUITE(apply_defaults_test)

// As variables get their values in OpenTofu: defaults first, then the type.
BOOST_AUTO_TEST_CASE(defaults) {
  struct Row {
    const char* name;
    const char* type;
    const char* value;
    const char* applied;
    const char* converted;
  };
  constexpr const char* kObject = "object({a = optional(string, \"x\"), b = optional(number)})";
  constexpr const char* kNested = "object({o = optional(object({b = optional(string, \"z\")}), {})})";
  const Row rows[] = {
      {"missing", kObject, "{}", "<a='x'>", "<a='x',b=null:number>"},
      {"null", kObject, "{a = null, b = 1}", "<a='x',b=1>", "<a='x',b=1>"},
      {"given", kObject, "{a = 2}", "<a=2>", "<a='2',b=null:number>"},
      {"whole value is null", kObject, "null", "null:any", "null:object({a=string,b=number})"},
      {"other kind", kObject, "\"text\"", "'text'", "error"},
      {"default gets defaults", kNested, "{}", "<o=<b='z'>>", "<o=<b='z'>>"},
      {"given part gets defaults", kNested, "{o = {}}", "<o=<b='z'>>", "<o=<b='z'>>"},
      {"list", "list(object({a = optional(string, \"x\")}))", "[{}, {a = 1}]", "(<a='x'>,<a=1>)", "[<a='x'>,<a='1'>]"},
      {"map", "map(object({a = optional(string, \"x\")}))", "{k = {}}", "<k=<a='x'>>", "{k=<a='x'>}"},
      {"tuple", "tuple([object({a = optional(string, \"x\")}), any])", "[{}, {}]", "(<a='x'>,<>)", "(<a='x'>,<>)"},
      {"empty list", "list(object({a = optional(string, \"x\")}))", "[]", "()", "[]"},
      {"extra attributes", kObject, "{c = true}", "<a='x',c=true>", "<a='x',b=null:number>"},
      {"value that does not fit", "list(object({a = optional(string, \"x\")}))", "[1, {}]", "(1,<a='x'>)", "error"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TypeConstraint constraint = constraint_of(row.type);
      const Value applied = apply_defaults(value_of(row.value), *constraint.defaults);
      BOOST_TEST(notation(applied) == row.applied);
      const auto converted = convert(applied, constraint.type);
      BOOST_TEST((converted ? notation(*converted) : "error") == row.converted);
    }
  }
}

BOOST_AUTO_TEST_CASE(collections_stay_where_they_can) {
  const TypeConstraint constraint = constraint_of("list(object({a = optional(string, \"x\"), n = number}))");
  const Value list = value_of("[{n = 1}, {n = 2}]", "list(any)");
  BOOST_TEST(notation(apply_defaults(list, *constraint.defaults)) == "[<a='x',n=1>,<a='x',n=2>]");
  const Value map = value_of("{p = \"1\"}", "map(string)");
  BOOST_TEST(notation(apply_defaults(map, *constraint.defaults->children.at(""))) == "{a='x',p='1'}");
  const Defaults numbers{.values = {{"a", Value::tuple({})}}};
  BOOST_TEST(notation(apply_defaults(map, numbers)) == "<a=(),p='1'>");
}

BOOST_AUTO_TEST_CASE(marks_stay) {
  const TypeConstraint constraint = constraint_of("object({a = optional(string, \"x\")})");
  const Value secret = Value::object({}).with_marks({.sensitive = true});
  BOOST_TEST(notation(apply_defaults(secret, *constraint.defaults)) == "<a='x'> sensitive");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
