#include "plugin/value/convert.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "plugin/value/conversion_rules.h"
#include "tests/plugin/value/notation.h"

namespace {

using namespace modlock::eval;
using modlock::test::notation;
using modlock::test::type_of;
using modlock::test::value_of;

BOOST_AUTO_TEST_SUITE(convert_values)

// What go-cty's convert.Convert gives.
BOOST_AUTO_TEST_CASE(conversions) {
  struct Row {
    const char* name;
    const char* value;
    const char* from;
    const char* to;
    const char* result;
  };
  const Row rows[] = {
      {"number to string", "1.50", "any", "string", "'1.5'"},
      {"bool to string", "true", "any", "string", "'true'"},
      {"string to number", R"("1e3")", "any", "number", "1000"},
      {"string to bool", R"("true")", "any", "bool", "true"},
      {"digit to bool", R"("0")", "any", "bool", "false"},
      {"any takes all", "[1, null]", "any", "any", "(1,null:any)"},
      {"null takes the type", "null", "any", "list(object({a = optional(string)}))", "null:list(object({a=string}))"},
      {"null of another type", "null", "number", "string", "null:string"},
      {"null keeps its element type", "null", "list(number)", "set(any)", "null:set(number)"},
      {"tuple to list", R"([1, "a", true])", "any", "list(string)", "['1','a','true']"},
      {"tuple to list of any", R"([1, "a"])", "any", "list(any)", "['1','a']"},
      {"tuple with null", "[1, null]", "any", "list(any)", "[1,null:number]"},
      {"tuple of objects", "[{a = 1}, {a = \"x\"}]", "any", "list(any)", "[<a='1'>,<a='x'>]"},
      {"tuple of other objects", "[{a = 1}, {b = \"x\"}]", "any", "list(any)", "[{a='1'},{b='x'}]"},
      {"empty tuple", "[]", "any", "list(any)", "[]"},
      {"tuple to set", "[2, \"1\", 2]", "any", "set(number)", "[[1,2]]"},
      {"tuple to tuple", "[1, true]", "any", "tuple([string, any])", "('1',true)"},
      {"list to set", "[2, 1, 2]", "list(number)", "set(string)", "[['1','2']]"},
      {"set to list", "[2, 1, 2]", "set(number)", "list(any)", "[1,2]"},
      {"object to map", "{a = 1, b = true}", "any", "map(string)", "{a='1',b='true'}"},
      {"object to map of any", "{a = [1], b = [\"x\"]}", "any", "map(any)", "{a=('1'),b=('x')}"},
      {"object to map of lists", "{a = [1], b = []}", "any", "map(list(any))", "{a=[1],b=[]}"},
      {"object loses attributes", "{a = 1, b = 2}", "any", "object({a = string})", "<a='1'>"},
      {"object gets optional attributes", "{a = 1}", "any", "object({a = number, b = optional(list(string))})",
       "<a=1,b=null:list(string)>"},
      {"inner optional attributes", "[{}, {a = 1}]", "any", "list(object({a = optional(string)}))",
       "[<a=null:string>,<a='1'>]"},
      {"map to object", "{a = 1, c = 2}", "map(number)", "object({a = string, b = optional(bool)})",
       "<a='1',b=null:bool>"},
      {"map to map", "{a = 1}", "map(number)", "map(string)", "{a='1'}"},
      {"no number", R"("0x10")", "any", "number", "error: a number is required"},
      {"no bool", R"("yes")", "any", "bool", "error: a bool is required"},
      {"bool in capitals", R"("True")", "any", "bool",
       R"(error: a bool is required; to convert from string, use lowercase "true")"},
      {"number to bool", "1", "any", "bool", "error: bool required, but have number"},
      {"tuple to string", "[]", "any", "string", "error: string required, but have tuple"},
      {"string to list", R"("a")", "any", "list(any)", "error: list of dynamic required, but have string"},
      {"object to list", "{}", "any", "list(any)", "error: list of any single type required"},
      {"tuple to map", "[]", "any", "map(string)", "error: map of string required"},
      {"list to map", "[]", "list(string)", "map(string)", "error: map of string required"},
      {"tuple to object", "[]", "any", "object({})", "error: object required, but have tuple"},
      {"other size", "[1]", "any", "tuple([])", "error: tuple required"},
      {"nothing in common", "[1, []]", "any", "list(any)", "error: all list elements must have the same type"},
      {"object and null", "[{a = 1}, null]", "any", "list(any)", "error: all list elements must have the same type"},
      {"nothing in common in a set", "[1, []]", "any", "set(any)", "error: all set elements must have the same type"},
      {"nothing in common in a map", "{a = 1, b = []}", "any", "map(any)",
       "error: all map elements must have the same type"},
      {"element", "[\"a\", []]", "any", "list(string)", "error: element 1: string required, but have tuple"},
      {"element of an object", "{a = [], b = {}}", "any", "map(string)",
       R"(error: element "a": string required, but have tuple)"},
      {"element of a list", "[[1]]", "list(list(number))", "list(bool)",
       "error: incorrect list element type: bool required, but have list of number"},
      {"content of an element", R"(["1", "x"])", "any", "list(number)", "error: a number is required"},
      {"attribute is missing", "{}", "any", "object({a = string})", R"(error: attribute "a" is required)"},
      {"two are missing", "{}", "any", "object({b = string, a = any})",
       R"(error: attributes "a" and "b" are required)"},
      {"three are missing", "{}", "any", "object({b = any, c = any, a = any})",
       R"(error: attributes "a", "b", and "c" are required)"},
      {"attribute", "{a = {}}", "any", "object({a = string})",
       R"(error: attribute "a": string required, but have object)"},
      {"element is missing", "{}", "map(string)", "object({a = string})",
       R"(error: map has no element for required attribute "a")"},
      {"element does not fit", "{a = 1}", "map(number)", "object({a = optional(list(string))})",
       R"(error: map element type is incompatible with attribute "a": list of string required, but have number)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto result = convert(value_of(row.value, row.from), type_of(row.to));
      BOOST_TEST((result ? notation(*result) : "error: " + result.error()) == row.result);
    }
  }
}

BOOST_AUTO_TEST_CASE(marks_stay) {
  const Value secret = Value::number(1).with_marks({.sensitive = true});
  const Value tuple = Value::tuple({secret, Value::number(2)}).with_marks({.ephemeral = true});
  BOOST_TEST(notation(convert(tuple, type_of("list(string)")).value()) == "['1' sensitive,'2'] ephemeral");
  BOOST_TEST(notation(convert(tuple, type_of("set(string)")).value()) == "[['1','2']] sensitive ephemeral");
  const Value null = Value().with_marks({.sensitive = true});
  BOOST_TEST(notation(convert(null, type_of("string")).value()) == "null:string sensitive");
}

BOOST_AUTO_TEST_CASE(common_types) {
  struct Row {
    const char* name;
    std::vector<const char*> types;
    const char* safe;
    const char* unsafe;
  };
  const Row rows[] = {
      {"none", {}, "any", "any"},
      {"one", {"number"}, "number", "number"},
      {"number and string", {"number", "string"}, "string", "string"},
      {"number and bool", {"number", "bool"}, "none", "none"},
      {"all primitive ones", {"number", "bool", "string"}, "string", "string"},
      {"null", {"any", "number"}, "any", "number"},
      {"lists", {"list(number)", "list(string)"}, "list(string)", "list(string)"},
      {"lists that have nothing in common", {"list(number)", "list(bool)"}, "none", "none"},
      {"list and null", {"list(number)", "any"}, "any", "any"},
      {"list and tuple", {"list(string)", "tuple([number, bool])"}, "list(string)", "list(string)"},
      {"list and matching tuple", {"list(number)", "tuple([number, string])"}, "list(string)", "list(string)"},
      {"list and set", {"list(number)", "set(string)"}, "none", "list(number)"},
      {"tuples of one size", {"tuple([number])", "tuple([string])"}, "tuple([string])", "tuple([string])"},
      {"tuples of several sizes", {"tuple([number])", "tuple([string, number])"}, "list(string)", "list(string)"},
      {"objects", {"object({a = number})", "object({a = string})"}, "object({a=string})", "object({a=string})"},
      {"objects with other attributes", {"object({a = number})", "object({b = string})"}, "map(string)", "map(string)"},
      {"objects that have nothing in common", {"object({a = number})", "object({b = bool})"}, "none", "none"},
      {"map and object", {"map(string)", "object({a = number})"}, "map(string)", "map(string)"},
      {"map and an object of several types", {"map(string)", "object({a = number, b = list(string)})"}, "none", "none"},
      {"object and tuple", {"object({})", "tuple([])", "any"}, "none", "none"},
      {"string, list and null", {"string", "list(string)", "any"}, "any", "any"},
      {"string and list", {"string", "list(string)"}, "none", "none"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::vector<Type> types;
      for (const char* const type : row.types) types.push_back(type_of(type));
      const auto name = [](const std::optional<Type>& type) { return type ? notation(*type) : "none"; };
      BOOST_TEST(name(types.empty() ? Type::dynamic() : unify(types, Safety::safe)) == row.safe);
      BOOST_TEST(name(unify_unsafe(types)) == row.unsafe);
    }
  }
}

Value random_value(std::mt19937& random, int depth) {
  const auto up_to = [&](unsigned most) { return random() % (most + 1); };
  const char* const texts[] = {"1", "true", "x", ""};
  switch (up_to(depth > 0 ? 5 : 3)) {
    case 0:
      return Value::string(texts[up_to(3)]);
    case 1:
      return Value::number(static_cast<std::int64_t>(up_to(3)));
    case 2:
      return Value::boolean(up_to(1) == 1);
    case 3:
      return Value();
    case 4: {
      Value::Items items;
      for (auto left = up_to(3); left > 0; --left) items.push_back(random_value(random, depth - 1));
      return Value::tuple(std::move(items));
    }
    default:
      Value::Members members;
      for (const char* const name : {"a", "b", "c"}) {
        if (up_to(1) == 1) members.emplace(name, random_value(random, depth - 1));
      }
      return Value::object(std::move(members));
  }
}

BOOST_AUTO_TEST_CASE(converting_twice_changes_nothing) {
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  const char* const types[] = {"list(any)",
                               "set(any)",
                               "map(any)",
                               "list(list(any))",
                               "map(list(string))",
                               "list(object({a = optional(any), b = optional(list(string))}))",
                               "object({a = optional(any), b = optional(map(any))})",
                               "tuple([string, any])",
                               "string"};
  int converted = 0;
  for (int round = 0; round < 3000; ++round) {
    const Value value = random_value(random, 3);
    for (const char* const text : types) {
      const Type type = type_of(text);
      const auto once = convert(value, type);
      if (!once) continue;
      ++converted;
      const auto twice = convert(*once, type);
      BOOST_TEST((twice && notation(*twice) == notation(*once)),
                 "seed " << kSeed << ": " << notation(value) << " to " << text);
    }
  }
  BOOST_TEST(converted > 3000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
