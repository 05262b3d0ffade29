#include <boost/test/unit_test.hpp>

#include "tests/plugin/eval/evaluation.h"

namespace {

using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(operators)

BOOST_AUTO_TEST_CASE(values) {
  const Row rows[] = {
      {"-1", "-1"},
      {"- -1", "1"},
      {"!true", "false"},
      {"1 + 2", "3"},
      {"1 - 2 - 3", "-4"},
      {"7 / 2", "3.5"},
      {"1 / 3",
       "0."
       "333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333"
       "33333333333333333333333333333333333333333335"},
      {"2 * 3 + 4", "10"},
      {"2 + 3 * 4", "14"},
      {"5 % 3", "2"},
      {"-5 % 3", "-2"},
      {"5 % -3", "2"},
      {"5.5 % 2", "1.5"},
      {"5 % 0", "5"},
      {"0.1 + 0.2", "0.3"},
      {"1 / 3 * 3", "1"},
      {R"("5" + 3)", "8"},
      {R"("5" * "2")", "10"},
      {R"(-"5")", "-5"},
      {"1 < 2", "true"},
      {"2 <= 2", "true"},
      {R"("10" > "9")", "true"},
      {"3 >= 4", "false"},
      {"1 == 1", "true"},
      {"1 == 1.0", "true"},
      {R"(1 == "1")", "false"},
      {R"("a" != "b")", "true"},
      {"null == null", "true"},
      {"var.none == null", "true"},
      {"null == var.none", "true"},
      {"tostring(null) == tolist(null)", "true"},
      {"[1] == [1]", "true"},
      {"[1] == tolist([1])", "false"},
      {"{ a = 1 } == { a = 1 }", "true"},
      {"tomap({ a = 1 }) == { a = 1 }", "false"},
      {"[1, 2] == [1]", "false"},
      {R"(var.list == tolist(["a", "b"]))", "true"},
      {"toset([1, 2]) == toset([2, 1])", "true"},
      {R"(true == "true")", "false"},
      {"[null] == [null]", "true"},
      {"[null] == [tostring(null)]", "false"},
      {"true && false", "false"},
      {"true && true", "true"},
      {"false || true", "true"},
      {"false || false", "false"},
      {R"("true" && true)", "true"},
      {R"("false" || false)", "false"},
      {"null || true", "true"},
      {"null && true", "false"},
      {"null && false", "false"},
      {"true && null", "false"},
      {"false && null", "false"},
      {"true || null", "true"},
      {"true || upper([])", "true"},
      {"upper([]) || true", "true"},
      {"upper([]) && false", "false"},
      {"false && upper([])", "false"},
      {R"(!"false")", "true"},
      {"[] == []", "true"},
      {"{} == {}", "true"},
      {"1e2 + 1", "101"},
      {"100000000000000000000 + 1", "100000000000000000001"},
      {"-0", "-0"},
      {"0.1 * 3", "0.3"},
      {"2 == 2.0000", "true"},
      {"1 - -1", "2"},
      {"!true || true", "true"},
      {"1 + 2 * 3 == 7 && !false", "true"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Row rows[] = {
      {R"(1 + "x")", "CONFIG_PARSE 1:9-1:12 invalid operand: unsuitable value for right operand: a number is required"},
      {R"("x" + 1)", "CONFIG_PARSE 1:5-1:8 invalid operand: unsuitable value for left operand: a number is required"},
      {"1 + null", "CONFIG_PARSE 1:5-1:13 operation failed: error during operation: argument must not be null"},
      {"null < 1", "CONFIG_PARSE 1:5-1:13 operation failed: error during operation: argument must not be null"},
      {R"(-"x")", "CONFIG_PARSE 1:6-1:9 invalid operand: unsuitable value for unary operand: a number is required"},
      {"-null", "CONFIG_PARSE 1:5-1:10 operation failed: error during operation: argument must not be null"},
      {R"(!"x")", "CONFIG_PARSE 1:6-1:9 invalid operand: unsuitable value for unary operand: a bool is required"},
      {"!null", "CONFIG_PARSE 1:5-1:10 operation failed: error during operation: argument must not be null"},
      {"!1",
       "CONFIG_PARSE 1:6-1:7 invalid operand: unsuitable value for unary operand: bool required, but have number"},
      {"1 && true",
       "CONFIG_PARSE 1:5-1:6 invalid operand: unsuitable value for left operand: bool required, but have number"},
      {R"(true && "x")",
       "CONFIG_PARSE 1:13-1:16 invalid operand: unsuitable value for right operand: a bool is required"},
      {"null || false", "CONFIG_PARSE 1:5-1:18 operation failed: error during operation: argument must not be null"},
      {"true && [1]",
       "CONFIG_PARSE 1:13-1:16 invalid operand: unsuitable value for right operand: bool required, but have tuple"},
      {"0 / 0",
       "CONFIG_PARSE 1:5-1:10 operation failed: error during operation: can't divide zero by zero or infinity by "
       "infinity"},
      {"[] + 1",
       "CONFIG_PARSE 1:5-1:7 invalid operand: unsuitable value for left operand: number required, but have tuple"},
      {R"(1 < "a")", "CONFIG_PARSE 1:9-1:12 invalid operand: unsuitable value for right operand: a number is required"},
      {"false || upper([])",
       "CONFIG_PARSE 1:20-1:22 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {"upper([]) || false",
       "CONFIG_PARSE 1:11-1:13 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {"upper([]) && true",
       "CONFIG_PARSE 1:11-1:13 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {"[][0] || [1][1]",
       "CONFIG_PARSE 1:7-1:10 invalid index: the given key does not identify an element in this collection value: the "
       "collection has no elements"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_SUITE_END()

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
