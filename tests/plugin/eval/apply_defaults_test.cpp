#include <boost/test/unit_test.hpp>
#include <string>

#include "plugin/eval/type_constraint.h"
#include "tests/plugin/value/notation.h"

namespace {

using namespace modlock::eval;
using modlock::test::notation;
using modlock::test::parse_argument;
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
