#include <boost/test/unit_test.hpp>

#include "tests/plugin/eval/evaluation.h"

namespace {

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(references)

BOOST_AUTO_TEST_CASE(what_a_scope_is_asked_for) {
  struct Asking {
    const char* name;
    const char* text;
    const char* asked;
  };
  const Asking rows[] = {
      {"none", R"("text")", ""},
      {"one", "var.s", "var.s@1:5-1:10 "},
      {"what follows is no part of it", "var.obj.ports[0]", "var.obj@1:5-1:12 "},
      {"in source order", "[var.s, var.n]", "var.s@1:6-1:11 var.n@1:13-1:18 "},
      {"each once", "[var.s, var.s]", "var.s@1:6-1:11 "},
      {"in both branches", "var.b ? var.s : var.n", "var.b@1:5-1:10 var.s@1:13-1:18 var.n@1:21-1:26 "},
      {"what logic does not need", "true || var.b", "var.b@1:13-1:18 "},
      {"in try", R"(try("x", var.s))", "var.s@1:14-1:19 "},
      {"in a template", R"("%{ if var.b }${var.s}%{ else }${var.n}%{ endif }")",
       "var.b@1:12-1:17 var.s@1:21-1:26 var.n@1:38-1:43 "},
      {"in the body of a for that never runs", "[for x in []: var.s if var.b]", "var.s@1:19-1:24 var.b@1:28-1:33 "},
      {"names of a for are none", "[for k, x in var.map: \"${k}${x}\"]", "var.map@1:18-1:25 "},
      {"names of a for in a template", R"("%{ for k, x in var.map }${k}${x}%{ endfor }")", "var.map@1:21-1:28 "},
      {"a name of a for that hides one", "[for var in [{ s = 1 }]: var.s]", ""},
      {"but not in its collection", "[for var in var.list: var]", "var.list@1:17-1:25 "},
      {"bare keys are none", "{ s = var.s }", "var.s@1:11-1:16 "},
      {"keys in parentheses are", "{ (var.s) = 1 }", "var.s@1:8-1:13 "},
      {"in an index", "var.list[var.n - 3]", "var.list@1:5-1:13 var.n@1:14-1:19 "},
      {"in a splat", "var.objects[*].tags", "var.objects@1:5-1:16 "},
      {"in a heredoc", "<<E\n${var.s}\nE", "var.s@2:3-2:8 "},
  };
  for (const Asking& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeScope scope(sample_values());
      BOOST_TEST(evaluate_text(row.text, scope).has_value());
      BOOST_TEST(scope.asked == row.asked);
    }
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  const Row rows[] = {
      {"var.nope", "CONFIG_PARSE 1:5-1:13 there is no var.nope"},
      {"var", "CONFIG_PARSE 1:5-1:8 there is no var."},
      {"each.key", "CONFIG_PARSE 1:5-1:13 there is no each.key"},
      {"1 + var.nope", "CONFIG_PARSE 1:9-1:17 there is no var.nope"},
      {"[upper([]), var.nope]", "CONFIG_PARSE 1:17-1:25 there is no var.nope"},
      {R"(try(var.nope, "x"))", "CONFIG_PARSE 1:9-1:17 there is no var.nope"},
      {"can(var.nope)", "CONFIG_PARSE 1:9-1:17 there is no var.nope"},
      {"true ? 1 : var.nope", "CONFIG_PARSE 1:16-1:24 there is no var.nope"},
      {"module.m.id", "CONFIG_NON_STATIC 1:5-1:13 a module output is not static"},
      {R"(try(module.m.id, "x"))", "CONFIG_NON_STATIC 1:9-1:17 a module output is not static"},
      {R"(provider::aws::arn_parse("x"))",
       "CONFIG_NON_STATIC 1:5-1:29 provider function in static context: unable to use provider::aws::arn_parse (use "
       "built-in functions here: providers are not installed yet when this is read)"},
      {R"(try(provider::aws::arn_parse("x"), 1))",
       "CONFIG_NON_STATIC 1:9-1:33 provider function in static context: unable to use provider::aws::arn_parse (use "
       "built-in functions here: providers are not installed yet when this is read)"},
      {"timestamp()",
       "CONFIG_NON_STATIC 1:5-1:14 function \"timestamp\" is not evaluated here: its value is another at each run"},
      {R"(try(timestamp(), "x"))",
       "CONFIG_NON_STATIC 1:9-1:18 function \"timestamp\" is not evaluated here: its value is another at each run"},
      {"can(uuid())",
       "CONFIG_NON_STATIC 1:9-1:13 function \"uuid\" is not evaluated here: its value is another at each run"},
      {R"(true ? "x" : uuid())", R"("x")"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_CASE(try_tells_why_each_expression_failed) {
  const Result<eval::Value> result = evaluate_text(R"(try([][0], upper([])))");
  BOOST_TEST_REQUIRE(!result.has_value());
  const auto& related = result.error().related;
  BOOST_TEST_REQUIRE(related.size() == 2U);
  BOOST_TEST(
      related[0].message ==
      "invalid index: the given key does not identify an element in this collection value: the collection has no "
      "elements");
  BOOST_TEST(show(*related[0].location.range) == "1:11-1:14");
  BOOST_TEST(related[1].message ==
             "invalid function argument: invalid value for \"str\" parameter: string required, but have tuple");
  BOOST_TEST(show(*related[1].location.range) == "1:22-1:24");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
