#include <boost/test/unit_test.hpp>

#include "tests/plugin/eval/evaluation.h"

namespace {

using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(literals)

BOOST_AUTO_TEST_CASE(values) {
  const Row rows[] = {
      {"null", "null(dynamic)"},
      {"true", "true"},
      {"1.50", "1.5"},
      {"007", "7"},
      {R"("x")", R"("x")"},
      {R"("")", R"("")"},
      {R"("a\nb")", R"("a\nb")"},
      {"(1)", "1"},
      {R"([1, "a", null])", R"([1, "a", null(dynamic)])"},
      {"[]", "[]"},
      {"{}", "{}"},
      {R"({ a = 1, "b" = 2, (var.s) = 3, 4 = 5, true = 6, null = 7 })", "{4=5, a=1, b=2, null=7, text=3, true=6}"},
      {"{ a = 1, a = 2 }", "{a=2}"},
      {R"({ "${var.s}" = 1 })", "{text=1}"},
      {R"({ "a b" = { c = [1] } })", "{a b={c=[1]}}"},
      {"var.s", R"("text")"},
      {"var.list", R"(list of string["a", "b"])"},
      {"var.set", R"(set of string["a", "b"])"},
      {"var.obj", R"({name="x", ports=[1, 2]})"},
      {"var.none", "null(string)"},
      {"var.no_list", "null(list of string)"},
      {"1.0", "1"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Row rows[] = {
      {"{ (null) = 1 }", "CONFIG_PARSE 1:7-1:13 null value as key: can't use a null value as a key"},
      {"{ ([]) = 1 }",
       "CONFIG_PARSE 1:7-1:11 incorrect key type: can't use this value as a key: string required, but have tuple"},
      {"{ var.s = 1 }",
       "CONFIG_PARSE 1:7-1:12 ambiguous attribute key: this may be a reference or a name with dots (wrap it in "
       "parentheses for the reference, in quotes for the name)"},
      {"{ a.b.c = 1 }", "CONFIG_PARSE 1:7-1:10 there is no a.b"},
      {"{ a[0] = 1 }", "CONFIG_PARSE 1:7-1:8 there is no a."},
      {"{ (upper([])) = 1 }",
       "CONFIG_PARSE 1:14-1:16 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {"{ a = upper([]) }",
       "CONFIG_PARSE 1:17-1:19 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {"[upper([])]",
       "CONFIG_PARSE 1:12-1:14 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {R"(var["s"])", "CONFIG_PARSE 1:5-1:8 there is no var."},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(json_values)

BOOST_AUTO_TEST_CASE(values) {
  const Row rows[] = {
      {R"("plain")", R"("plain")"},
      {R"("${var.s}")", R"("text")"},
      {R"("a ${var.s}")", R"("a text")"},
      {"5", "5"},
      {"-5.25e1", "-52.5"},
      {"true", "true"},
      {"null", "null(dynamic)"},
      {R"([1, "${1}", null])", "[1, 1, null(dynamic)]"},
      {R"({"a": "${var.list}", "${var.s}": 1, "x${1}": 2})", R"({a=list of string["a", "b"], text=1, x1=2})"},
      {R"({"${1}": 1})", "{1=1}"},
      {"{}", "{}"},
      {R"("$${x}")", R"("${x}")"},
      {R"("%{ if true }a%{ endif }")", R"("a")"},
      {R"({"a": 1, "b": {"c": ["${var.secret}"]}})", R"({a=1, b={c=["hidden"!s]}})"},
      {R"("")", R"("")"},
      {R"("a\nb \"q\" ${\"x\"}")", R"("a\nb \"q\" x")"},
  };
  check(rows, as_json);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Row rows[] = {
      {R"("a${null}")",
       "CONFIG_PARSE 1:11-1:15 invalid template interpolation value: the expression result is null (cannot include a "
       "null value in a string template)"},
      {R"({"${null}": 1})", "CONFIG_PARSE 1:8-1:17 null value as key: can't use a null value as a key"},
      {R"({"${[]}": 1})",
       "CONFIG_PARSE 1:8-1:15 incorrect key type: can't use this value as a key: string required, but have tuple"},
      {R"({"a": 1, "${\"a\"}": 2})",
       "CONFIG_PARSE 1:16-1:26 duplicate object attribute: an attribute named \"a\" was already defined"},
      {R"("${")", R"(CONFIG_PARSE 1:8-1:10 "${" is never closed: expected "}" before the end of the string)"},
      {R"(["${1 + \"x\"}"])",
       "CONFIG_PARSE 1:15-1:20 invalid operand: unsuitable value for right operand: a number is required"},
  };
  check(rows, as_json);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
