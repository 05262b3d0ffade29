#include <boost/test/unit_test.hpp>

#include "tests/plugin/eval/evaluation.h"

namespace {

using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(calls)

BOOST_AUTO_TEST_CASE(values) {
  const Row rows[] = {
      {R"(upper("a"))", R"("A")"},
      {R"(core::upper("a"))", R"("A")"},
      {R"(upper("a",))", R"("A")"},
      {"max(1, 2, 3)", "3"},
      {"max([1, 2, 3]...)", "3"},
      {"max(1, [2, 3]...)", "3"},
      {"max(tolist([1, 2])...)", "2"},
      {"max(toset([1, 2])...)", "2"},
      {R"(upper(["a"]...))", R"("A")"},
      {"upper(1)", R"("1")"},
      {"upper(true)", R"("TRUE")"},
      {R"(concat([1], ["a"]))", R"([1, "a"])"},
      {"try(1, 2)", "1"},
      {"try([][0], 2)", "2"},
      {R"(try(upper([]), [][0], "x"))", R"("x")"},
      {R"(try(var.obj.nope, "x"))", R"("x")"},
      {R"(try(1 + "x", null))", "null(dynamic)"},
      {R"(try(["z"]...))", R"("z")"},
      {"can(1)", "true"},
      {"can([][0])", "false"},
      {R"(can(upper("x")))", "true"},
      {R"(can("${null}"))", "true"},
      {R"(can(tonumber("x")))", "false"},
      {"try(var.objects[*].nope, [])", "[]"},
      {R"(convert("5", number))", "5"},
      {"core::convert(5, string)", R"("5")"},
      {R"(convert(["b", "a"], set(string)))", R"(set of string["a", "b"])"},
      {R"(convert({}, object({ a = optional(string, "x") })))", R"({a="x"})"},
      {"convert(null, list(string))", "null(list of string)"},
      {R"(try(convert("x", number), 1))", "1"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Row rows[] = {
      {R"(uppr("a"))",
       "CONFIG_PARSE 1:5-1:9 call to unknown function: there is no function named \"uppr\" (did you mean \"upper\"?)"},
      {R"(zzz("a"))", R"(CONFIG_PARSE 1:5-1:8 call to unknown function: there is no function named "zzz")"},
      {"foo::bar(1)",
       "CONFIG_PARSE 1:5-1:13 unknown function namespace: function \"foo::bar\" does not exist within a valid "
       "namespace (provider, core)"},
      {R"(core::uppr("a"))",
       "CONFIG_PARSE 1:5-1:15 call to unknown function: there is no function named \"core::uppr\" (did you mean "
       "\"upper\"?)"},
      {"upper()",
       "CONFIG_PARSE 1:5-1:12 not enough function arguments: function \"upper\" expects 1 argument(s), missing value "
       "for \"str\""},
      {R"(upper("a", "b"))",
       "CONFIG_PARSE 1:16-1:19 too many function arguments: function \"upper\" expects only 1 argument(s)"},
      {R"(convert("x", number))",
       "CONFIG_PARSE 1:13-1:16 invalid function argument: invalid value for \"value\" parameter: a number is required"},
      {R"(convert("x", var.region))",
       "CONFIG_PARSE 1:18-1:28 invalid type specification: a type specification is either a primitive type keyword "
       "(bool, number, string) or a complex type constructor call, like list(string) (write a type such as string, "
       "list(string) or object({ name = string }))"},
      {"convert(1)",
       "CONFIG_PARSE 1:5-1:15 not enough function arguments: function \"convert\" expects 2 argument(s), missing value "
       "for \"type\""},
      {"upper(null)",
       "CONFIG_PARSE 1:11-1:15 invalid function argument: invalid value for \"str\" parameter: argument must not be "
       "null"},
      {"upper(var.none)",
       "CONFIG_PARSE 1:11-1:19 invalid function argument: invalid value for \"str\" parameter: argument must not be "
       "null"},
      {"upper([])",
       "CONFIG_PARSE 1:11-1:13 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {"upper({})",
       "CONFIG_PARSE 1:11-1:13 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have object"},
      {"max()",
       "CONFIG_PARSE 1:5-1:10 error in function call: call to function \"max\" failed: must pass at least one number"},
      {R"(max("x"))",
       "CONFIG_PARSE 1:9-1:12 invalid function argument: invalid value for \"numbers\" parameter: a number is "
       "required"},
      {"max(1, [])",
       "CONFIG_PARSE 1:12-1:14 invalid function argument: invalid value for \"numbers\" parameter: number required, "
       "but have tuple"},
      {"max(null...)",
       "CONFIG_PARSE 1:9-1:13 invalid expanding argument value: the expanding argument (indicated by ...) must not be "
       "null"},
      {R"(max("a"...))",
       "CONFIG_PARSE 1:9-1:12 invalid expanding argument value: the expanding argument (indicated by ...) must be of a "
       "tuple, list, or set type"},
      {"max({}...)",
       "CONFIG_PARSE 1:9-1:11 invalid expanding argument value: the expanding argument (indicated by ...) must be of a "
       "tuple, list, or set type"},
      {"upper([]...)",
       "CONFIG_PARSE 1:5-1:17 not enough function arguments: function \"upper\" expects 1 argument(s), missing value "
       "for \"str\""},
      {R"(upper(["a", "b"]...))",
       "CONFIG_PARSE 1:11-1:21 too many function arguments: function \"upper\" expects only 1 argument(s)"},
      {"upper([[]]...)",
       "CONFIG_PARSE 1:11-1:15 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {"max(upper([])...)",
       "CONFIG_PARSE 1:15-1:17 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {"try()",
       "CONFIG_PARSE 1:5-1:10 error in function call: call to function \"try\" failed: at least one argument is "
       "required"},
      {"try([][0])",
       "CONFIG_PARSE 1:5-1:15 error in function call: call to function \"try\" failed: no expression succeeded (at "
       "least one expression must produce a successful result)"},
      {R"(try([][0], 1 + "x"))",
       "CONFIG_PARSE 1:5-1:24 error in function call: call to function \"try\" failed: no expression succeeded (at "
       "least one expression must produce a successful result)"},
      {"can()",
       "CONFIG_PARSE 1:5-1:10 not enough function arguments: function \"can\" expects 1 argument(s), missing value for "
       "\"expression\""},
      {"can(1, 2)", "CONFIG_PARSE 1:12-1:13 too many function arguments: function \"can\" expects only 1 argument(s)"},
      {R"(tonumber("x"))",
       "CONFIG_PARSE 1:14-1:17 invalid function argument: invalid value for \"v\" parameter: cannot convert \"x\" to "
       "number; given string must be a decimal representation of a number"},
      {R"(abs("x"))",
       "CONFIG_PARSE 1:9-1:12 invalid function argument: invalid value for \"num\" parameter: a number is required"},
      {"chunklist([1], -1)",
       "CONFIG_PARSE 1:5-1:23 error in function call: call to function \"chunklist\" failed: the size argument must be "
       "positive"},
      {R"(try([[][0], "z"]...))",
       "CONFIG_PARSE 1:12-1:15 invalid index: the given key does not identify an element in this collection value: the "
       "collection has no elements"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
