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

}  // namespace
