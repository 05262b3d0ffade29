#include <boost/test/unit_test.hpp>

#include "tests/plugin/eval/evaluation.h"

namespace {

using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(conditional)

BOOST_AUTO_TEST_CASE(values) {
  const Row rows[] = {
      {"true ? 1 : 2", "1"},
      {"false ? 1 : 2", "2"},
      {R"("true" ? 1 : 2)", "1"},
      {R"(true ? 1 : "a")", R"("1")"},
      {R"(true ? "a" : 1)", R"("a")"},
      {R"(false ? true : "x")", R"("x")"},
      {R"(true ? true : "x")", R"("true")"},
      {"true ? null : 1", "null(number)"},
      {"false ? null : 1", "1"},
      {"true ? null : null", "null(dynamic)"},
      {"true ? null : [1]", "null(tuple)"},
      {"false ? [] : null", "null(tuple)"},
      {"true ? [1] : [2, 3]", "list of number[1]"},
      {R"(true ? [1] : ["a"])", R"(["1"])"},
      {R"(true ? [1, "a"] : ["a", 1])", R"(["1", "a"])"},
      {R"(true ? [] : ["a"])", "list of string[]"},
      {R"(true ? { a = 1 } : { a = "x" })", R"({a="1"})"},
      {R"(true ? { a = 1 } : { b = "x" })", R"(map of string{a="1"})"},
      {"true ? { a = 1 } : {}", "map of number{a=1}"},
      {"true ? [[1], null] : [null, [2]]", "[[1], null(dynamic)]"},
      {R"(true ? var.list : ["x"])", R"(list of string["a", "b"])"},
      {R"(true ? ["x"] : var.list)", R"(list of string["x"])"},
      {R"(false ? var.set : ["x"])", R"(set of string["x"])"},
      {"false ? var.set : var.list", R"(list of string["a", "b"])"},
      {"true ? var.map : { z = 1 }", R"(map of string{k1="v1", k2="v2"})"},
      {"false ? var.map : { z = 1 }", R"(map of string{z="1"})"},
      {R"(true ? tomap({ a = "x" }) : { a = "x", b = true })", R"(map of string{a="x"})"},
      {R"(true ? tolist([1]) : ["a"])", R"(list of string["1"])"},
      {"true ? 1 : [1][5]", "1"},
      {R"(false ? 1 + "x" : "a")", R"("a")"},
      {R"(true ? 1 : "${null}")", "1"},
      {R"(true ? 1 : "a${null}")", R"("1")"},
      {"true ? 1 : upper(null)", "1"},
      {R"(true ? "x" : [upper(null)][0])", R"("x")"},
      {R"(true ? { a = 1, b = null } : { a = "x", b = 2 })", R"({a="1", b=null(number)})"},
      {R"(true ? [null] : ["a"])", "[null(string)]"},
      {R"(false ? [null] : ["a"])", R"(["a"])"},
      {R"(true ? (false ? 1 : "a") : 2)", R"("a")"},
      {"true ? var.objects : []",
       R"(list of object[{id="one", tags=map of string{t="1"}}, {id="two", tags=map of string{}}])"},
      {"false ? {} : null", "null(object)"},
      {"true ? [1, 2] : []", "list of number[1, 2]"},
      {R"(true ? { a = [1] } : { a = ["x"] })", R"({a=["1"]})"},
      {R"(var.b ? "git::https://example.com/${var.s}.git" : "./local")", R"("git::https://example.com/text.git")"},
      {R"((var.n > 2 ? "a" : "b") == "a")", "true"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Row rows[] = {
      {"true ? 1 : true",
       "CONFIG_PARSE 1:12-1:20 inconsistent conditional result types: the 'true' value is number, but the 'false' "
       "value is bool (the true and false result expressions must have consistent types)"},
      {R"(true ? [1] : "x")",
       "CONFIG_PARSE 1:12-1:21 inconsistent conditional result types: the 'true' value is tuple, but the 'false' value "
       "is string (the true and false result expressions must have consistent types)"},
      {"true ? { a = 1 } : { b = [] }",
       "CONFIG_PARSE 1:12-1:34 inconsistent conditional result types: the 'true' value includes object attribute "
       "\"a\", which is absent in the 'false' value (the true and false result expressions must have consistent "
       "types)"},
      {R"(true ? { a = 1, b = [] } : { a = 1, b = "x" })",
       "CONFIG_PARSE 1:12-1:50 inconsistent conditional result types: type mismatch for object attribute \"b\": the "
       "'true' value is tuple, but the 'false' value is string (the true and false result expressions must have "
       "consistent types)"},
      {R"(true ? [[1]] : ["x"])",
       "CONFIG_PARSE 1:12-1:25 inconsistent conditional result types: type mismatch for tuple element 0: the 'true' "
       "value is tuple, but the 'false' value is string (the true and false result expressions must have consistent "
       "types)"},
      {"true ? [[1], 1] : [[1], {}]",
       "CONFIG_PARSE 1:12-1:32 inconsistent conditional result types: type mismatch for tuple element 1: the 'true' "
       "value is number, but the 'false' value is object (the true and false result expressions must have consistent "
       "types)"},
      {"true ? [[]] : [{}]",
       "CONFIG_PARSE 1:12-1:23 inconsistent conditional result types: type mismatch for tuple element 0: the 'true' "
       "value is tuple, but the 'false' value is object (the true and false result expressions must have consistent "
       "types)"},
      {"true ? tolist([{ a = 1 }]) : tolist([{ a = [] }])",
       "CONFIG_PARSE 1:12-1:54 inconsistent conditional result types: mismatched list element types: type mismatch for "
       "object attribute \"a\": the 'true' value is number, but the 'false' value is tuple (the true and false result "
       "expressions must have consistent types)"},
      {R"(true ? tolist(["a"]) : tomap({ a = "x" }))",
       "CONFIG_PARSE 1:12-1:46 inconsistent conditional result types: the 'true' value is list of string, but the "
       "'false' value is map of string (the true and false result expressions must have consistent types)"},
      {"true ? toset([[1]]) : toset([{}])",
       "CONFIG_PARSE 1:12-1:38 inconsistent conditional result types: the 'true' value is set of tuple, but the "
       "'false' value is set of object (the true and false result expressions must have consistent types)"},
      {"null ? 1 : 2",
       "CONFIG_PARSE 1:5-1:9 null condition: the condition value is null (conditions must either be true or false)"},
      {R"("yes" ? 1 : 2)",
       "CONFIG_PARSE 1:5-1:10 incorrect condition type: the condition expression must be of type bool"},
      {"[] ? 1 : 2", "CONFIG_PARSE 1:5-1:7 incorrect condition type: the condition expression must be of type bool"},
      {"true ? upper([]) : 1",
       "CONFIG_PARSE 1:18-1:20 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {"upper([]) ? 1 : 2",
       "CONFIG_PARSE 1:11-1:13 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {R"(true ? [bad(1)] : "x")",
       "CONFIG_PARSE 1:12-1:26 inconsistent conditional result types: the 'true' value is tuple, but the 'false' value "
       "is string (the true and false result expressions must have consistent types)"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
