#include <boost/test/unit_test.hpp>

#include "tests/plugin/eval/evaluation.h"

namespace {

using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(for_expressions)

BOOST_AUTO_TEST_CASE(values) {
  const Row rows[] = {
      {"[for x in [1, 2]: x * 2]", "[2, 4]"},
      {R"([for i, x in ["a"]: "${i}${x}"])", R"(["0a"])"},
      {"[for x in var.set: x]", R"(["a", "b"])"},
      {"[for k, x in var.set: k]", R"(["a", "b"])"},
      {"[for x in var.map: x]", R"(["v1", "v2"])"},
      {R"([for k, v in var.map: "${k}=${v}"])", R"(["k1=v1", "k2=v2"])"},
      {"[for k, v in { b = 1, a = 2 }: k]", R"(["a", "b"])"},
      {"[for x in [1, 2, 3]: x if x > 1]", "[2, 3]"},
      {R"([for x in [1, 2, 3]: x if "true"])", "[1, 2, 3]"},
      {"[for x in []: x]", "[]"},
      {R"({ for x in ["a", "b"]: x => upper(x) })", R"({a="A", b="B"})"},
      {R"({ for i, x in ["a", "b"]: i => x })", R"({0="a", 1="b"})"},
      {R"({ for k, v in var.map: v => k if k != "k1" })", R"({v2="k2"})"},
      {R"({ for x in ["a", "b", "a"]: x => 1... })", "{a=[1, 1], b=[1]}"},
      {"{ for x in []: x => 1... }", "{}"},
      {"{ for x in [true]: x => x }", "{true=true}"},
      {"[for x in [1]: [for y in [2]: x + y]]", "[[3]]"},
      {"[for x in [1]: [for x in [2]: x]]", "[[2]]"},
      {"[for var in [{ s = 5 }]: var.s]", "[5]"},
      {"[for x in []: x if x && true]", "[]"},
      {"[for x in []: x if x.a.b[0] == 1]", "[]"},
      {"[for x in []: x if [for y in x: y] == null]", "[]"},
      {"[for x in []: x if { a = x } == null]", "[]"},
      {R"([for x in []: x if "${x}-" == ""])", "[]"},
      {R"([for x in []: x if upper(x) == "A"])", "[]"},
      {R"([for x in []: x if try(x, 1 + "x")])", "[]"},
      {"[for x in []: x if x ? true : false]", "[]"},
      {"[for x in []: x if true ? x : false]", "[]"},
      {"[for x in []: x if x[*].a == []]", "[]"},
      {"[for x in []: x if can(x)]", "[]"},
      {"{ for k, v in var.obj: k => v }", R"({name="x", ports=[1, 2]})"},
      {"[for i, x in var.objects: x.id if i > 0]", R"(["two"])"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Row rows[] = {
      {"[for x in null: x]",
       "CONFIG_PARSE 1:15-1:19 iteration over null value: a null value cannot be used as the collection in a 'for' "
       "expression"},
      {"[for x in var.no_list: x]",
       "CONFIG_PARSE 1:15-1:26 iteration over null value: a null value cannot be used as the collection in a 'for' "
       "expression"},
      {"[for x in 5: x]",
       "CONFIG_PARSE 1:15-1:16 iteration over non-iterable value: a value of type number cannot be used as the "
       "collection in a 'for' expression"},
      {R"([for x in "a": x])",
       "CONFIG_PARSE 1:15-1:18 iteration over non-iterable value: a value of type string cannot be used as the "
       "collection in a 'for' expression"},
      {"[for x in [1]: x if null]",
       "CONFIG_PARSE 1:25-1:29 invalid 'for' condition: the value of the 'if' clause must not be null"},
      {R"([for x in [1]: x if "maybe"])",
       "CONFIG_PARSE 1:25-1:32 invalid 'for' condition: the 'if' clause value is invalid: a bool is required"},
      {"[for x in []: x if null]",
       "CONFIG_PARSE 1:24-1:28 invalid 'for' condition: the value of the 'if' clause must not be null"},
      {R"([for x in []: x if "maybe"])",
       "CONFIG_PARSE 1:24-1:31 invalid 'for' condition: the 'if' clause value is invalid: a bool is required"},
      {"[for x in []: x if upper([])]",
       "CONFIG_PARSE 1:30-1:32 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {"[for x in []: x if var.none]",
       "CONFIG_PARSE 1:24-1:32 invalid 'for' condition: the value of the 'if' clause must not be null"},
      {"[for x in [1, null]: x if x]",
       "CONFIG_PARSE 1:31-1:32 invalid 'for' condition: the 'if' clause value is invalid: bool required, but have "
       "number"},
      {"[for x in [1]: upper([])]",
       "CONFIG_PARSE 1:26-1:28 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {R"({ for x in ["a", "a"]: x => 1 })",
       "CONFIG_PARSE 1:28-1:29 duplicate object key: two different items produced the key \"a\" in this 'for' "
       "expression (if duplicates are expected, use the ellipsis (...) after the value expression to enable grouping "
       "by key)"},
      {"{ for x in [null]: x => 1 }",
       "CONFIG_PARSE 1:24-1:25 invalid object key: key expression in 'for' expression must not produce a null value"},
      {"{ for x in [[]]: x => 1 }",
       "CONFIG_PARSE 1:22-1:23 invalid object key: the key expression produced an invalid result: string required, but "
       "have tuple"},
      {"{ for x in [1]: upper([]) => 1 }",
       "CONFIG_PARSE 1:27-1:29 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {"{ for x in [1]: x => upper([]) }",
       "CONFIG_PARSE 1:32-1:34 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {"[for x in []: x if bad_is_not(x)]",
       R"(CONFIG_PARSE 1:24-1:34 call to unknown function: there is no function named "bad_is_not")"},
      {R"([for x in [1,2]: x if x > 0 && upper([]) == ""])",
       "CONFIG_PARSE 1:42-1:44 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
