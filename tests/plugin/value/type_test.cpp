#include "plugin/value/type.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/value/notation.h"

namespace {

using namespace modlock::eval;
using modlock::test::notation;
using modlock::test::type_of;

BOOST_AUTO_TEST_SUITE(type)

// cty's FriendlyName and FriendlyNameForConstraint.
BOOST_AUTO_TEST_CASE(names) {
  struct Row {
    const char* type;
    const char* name;
    const char* constraint_name;
  };
  const Row rows[] = {
      {"any", "dynamic", "any type"},
      {"bool", "bool", "bool"},
      {"list(string)", "list of string", "list of string"},
      {"map(any)", "map of dynamic", "map of any single type"},
      {"set(list(any))", "set of list of dynamic", "set of list of any single type"},
      {"tuple([string])", "tuple", "tuple"},
      {"object({a = string})", "object", "object"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.type) {
      BOOST_TEST(type_of(row.type).friendly_name() == row.name);
      BOOST_TEST(type_of(row.type).friendly_constraint_name() == row.constraint_name);
    }
  }
}

BOOST_AUTO_TEST_CASE(equality_is_structural) {
  const char* const different[] = {"any",
                                   "string",
                                   "number",
                                   "list(string)",
                                   "list(number)",
                                   "set(string)",
                                   "map(string)",
                                   "tuple([])",
                                   "tuple([string])",
                                   "tuple([string, string])",
                                   "object({})",
                                   "object({a = string})",
                                   "object({b = string})",
                                   "object({a = optional(string)})",
                                   "list(object({a = string}))"};
  for (const char* const left : different) {
    for (const char* const right : different) {
      BOOST_TEST_CONTEXT(left << " and " << right) {
        BOOST_TEST((type_of(left) == type_of(right)) == (left == right));
      }
    }
    BOOST_TEST(type_of(left).hash() == type_of(left).hash());
  }
}

BOOST_AUTO_TEST_CASE(optional_attributes_are_dropped) {
  const Type type = type_of("list(object({a = optional(map(object({b = optional(string), c = any}))), d = number}))");
  BOOST_TEST(notation(type) == "list(object({a?=map(object({b?=string,c=any})),d=number}))");
  BOOST_TEST(notation(type.without_optional_attributes()) ==
             "list(object({a=map(object({b=string,c=any})),d=number}))");
}

BOOST_AUTO_TEST_CASE(heights_and_dynamic_parts) {
  BOOST_TEST(type_of("string").height() == 1U);
  BOOST_TEST(type_of("tuple([])").height() == 1U);
  BOOST_TEST(type_of("object({a = string, b = list(set(any))})").height() == 4U);
  BOOST_TEST(type_of("object({a = string, b = list(set(any))})").has_dynamic_part());
  BOOST_TEST(!type_of("map(string)").has_dynamic_part());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
