#include <boost/test/unit_test.hpp>

#include "tests/plugin/eval/evaluation.h"

namespace {

using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(value_marks)

BOOST_AUTO_TEST_CASE(values) {
  const Row rows[] = {
      {R"(true ? sensitive("a") : 1)", R"("a"!s)"},
      {R"(true ? 1 : sensitive("a"))", R"("1"!s)"},
      {"var.secret_flag ? 1 : 2", "1!s"},
      {"true ? sensitive(null) : 1", "null(dynamic)!s"},
      {"false ? sensitive(null) : 1", "1!s"},
      {R"(true ? var.secret_items : ["x", "y"])", R"(["a"!s, "b"])"},
      {R"("a ${var.secret}")", R"("a hidden"!s)"},
      {R"("%{ if var.secret_flag }a%{ endif }")", R"("a"!s)"},
      {R"("%{ for x in var.secret_list }${x}%{ endfor }")", R"("ab"!s)"},
      {R"("%{ for x in var.secret_items }${x}%{ endfor }")", R"("ab"!s)"},
      {R"("x${var.token}")", R"("xbrief"!e)"},
      {R"("${var.token} ${var.secret}")", R"("brief hidden"!s!e)"},
      {"[for x in var.secret_list: x]", R"(["a", "b"]!s)"},
      {"[for x in var.secret_items: x]", R"(["a"!s, "b"])"},
      {"[for x in [1]: x if var.secret_flag]", "[1]!s"},
      {"[for x in [1]: x if !var.secret_flag]", "[]!s"},
      {R"({ for x in ["a"]: var.secret => x })", R"({hidden="a"}!s)"},
      {R"({ for x in ["a"]: x => var.secret })", R"({a="hidden"!s})"},
      {"var.secret_list[0]", R"("a"!s)"},
      {"var.list[sensitive(0)]", R"("a"!s)"},
      {"var.map[var.secret_key]", R"("v1"!s)"},
      {"{ k1 = 1 }[var.secret_key]", "1"},
      {"sensitive({ a = 1 }).a", "1!s"},
      {R"(sensitive({ a = 1 })["a"])", "1!s"},
      {"{ a = sensitive(1) }.a", "1!s"},
      {"sensitive(tomap({ a = 1 })).a", "1!s"},
      {"var.secret_list[*]", R"(list of string["a", "b"]!s)"},
      {"sensitive({ a = 1 })[*].a", "[1!s]!s"},
      {R"(sensitive("x")[*])", R"(["x"!s]!s)"},
      {"sensitive(null)[*]", "[]!s"},
      {"var.secret_items[*]", R"(["a"!s, "b"])"},
      {"upper(var.secret)", R"("HIDDEN"!s)"},
      {"upper(var.token)", R"("BRIEF"!e)"},
      {"max(1, sensitive(2))", "2!s"},
      {"max(sensitive([1, 2])...)", "2!s"},
      {R"(sensitive("a"))", R"("a"!s)"},
      {"sensitive(null)", "null(dynamic)!s"},
      {"nonsensitive(var.secret)", R"("hidden")"},
      {R"(nonsensitive("a"))", R"("a")"},
      {"nonsensitive([var.secret])", R"(["hidden"!s])"},
      {"nonsensitive(sensitive([var.secret]))", R"(["hidden"!s])"},
      {"nonsensitive(sensitive({ a = var.secret }))", R"({a="hidden"!s})"},
      {R"(nonsensitive(sensitive(tomap({ a = "x" }))))", R"(map of string{a="x"})"},
      {"nonsensitive(sensitive(tostring(null)))", "null(string)"},
      {R"(nonsensitive(sensitive(toset(["a"]))))", R"(set of string["a"])"},
      {"nonsensitive(sensitive(var.token))", R"("brief"!e)"},
      {"issensitive(var.secret)", "true"},
      {R"(issensitive("a"))", "false"},
      {"issensitive([var.secret])", "false"},
      {"ephemeralasnull(var.token)", "null(string)"},
      {R"(ephemeralasnull("x"))", R"("x")"},
      {"ephemeralasnull(sensitive(var.token))", "null(string)!s"},
      {R"(ephemeralasnull([var.token, "x"]))", R"([null(string), "x"])"},
      {"ephemeralasnull({ a = [var.token], b = sensitive(1) })", "{a=[null(string)], b=1!s}"},
      {R"(ephemeralasnull(sensitive("x")))", R"("x"!s)"},
      {"[var.secret]", R"(["hidden"!s])"},
      {"{ a = var.secret }", R"({a="hidden"!s})"},
      {"{ (var.secret) = 1 }", "{hidden=1}!s"},
      {R"(toset([var.secret, "x"]))", R"(set of string["hidden", "x"]!s)"},
      {R"(var.secret == "hidden")", "true!s"},
      {R"(var.secret_items == ["a", "b"])", "true!s"},
      {"var.secret_items == null", "false!s"},
      {"[var.secret] == [null]", "false!s"},
      {"var.secret_flag && true", "true!s"},
      {"true && var.secret_flag", "true!s"},
      {"true || var.secret_flag", "true!s"},
      {"!var.secret_flag", "false!s"},
      {"-sensitive(1)", "-1!s"},
      {"sensitive(1) + 2", "3!s"},
      {"sensitive(1) < 2", "true!s"},
      {"var.secret != var.token", "true!s!e"},
      {"ephemeralasnull(var.token_list)", R"(list of string["a", null(string)])"},
      {"ephemeralasnull(var.token_map)", "map of string{k=null(string)}"},
      {"var.token_list[1]", R"("brief"!e)"},
      {"var.token_list[0]", R"("a")"},
      {"nonsensitive(sensitive(var.token_map))", R"(map of string{k="brief"!e})"},
      {"{ for x in var.token_list: x => 1 }", "{a=1, brief=1}!e"},
      {R"("${var.token_map.k}-")", R"("brief-"!e)"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Row rows[] = {
      {R"({ for x in ["a", "a"]: sensitive(x) => 1 })",
       "CONFIG_PARSE 1:28-1:40 duplicate object key: two different items produced the same key in this 'for' "
       "expression (if duplicates are expected, use the ellipsis (...) after the value expression to enable grouping "
       "by key)"},
      {R"({ for x in sensitive(["a", "a"]): x => 1 })",
       "CONFIG_PARSE 1:39-1:40 duplicate object key: two different items produced the key \"a\" in this 'for' "
       "expression (if duplicates are expected, use the ellipsis (...) after the value expression to enable grouping "
       "by key)"},
      {"sensitive()",
       "CONFIG_PARSE 1:5-1:16 not enough function arguments: function \"sensitive\" expects 1 argument(s), missing "
       "value for \"value\""},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
