#include <boost/test/unit_test.hpp>

#include "tests/plugin/eval/evaluation.h"

namespace {

using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(templates)

BOOST_AUTO_TEST_CASE(values) {
  const Row rows[] = {
      {R"("a ${1} b")", R"("a 1 b")"},
      {R"("${1}")", "1"},
      {R"("${[1]}")", "[1]"},
      {R"("${1}${2}")", R"("12")"},
      {R"("x${true}")", R"("xtrue")"},
      {R"("x${1.5}")", R"("x1.5")"},
      {R"("${null}")", "null(dynamic)"},
      {R"("$${a}")", R"("${a}")"},
      {R"("a%%{if")", R"("a%{if")"},
      {R"("%{ if true }yes%{ else }no%{ endif }")", R"("yes")"},
      {R"("%{ if false }yes%{ else }no%{ endif }")", R"("no")"},
      {R"("%{ if false }yes%{ endif }")", R"("")"},
      {R"("%{ if true }${1}%{ endif }")", R"("1")"},
      {R"("a%{ if "true" }${var.s}%{ endif }b")", R"("atextb")"},
      {R"("%{ for x in var.list }${x},%{ endfor }")", R"("a,b,")"},
      {R"("%{ for i, x in var.list }${i}=${x};%{ endfor }")", R"("0=a;1=b;")"},
      {R"("%{ for k, v in var.map }${k}=${v};%{ endfor }")", R"("k1=v1;k2=v2;")"},
      {R"("%{ for x in [] }${x}%{ endfor }")", R"("")"},
      {R"("%{ for x in var.list }%{ if x == "a" }A%{ else }${x}%{ endif }%{ endfor }")", R"("Ab")"},
      {R"("%{ for x in [1,2] ~} ${x} %{~ endfor }")", R"("12")"},
      {R"("a%{ for x in [1] }%{ endfor }")", R"("a")"},
      {R"(" ${~ true ~} ")", R"("true")"},
      {R"("${1 ~} ")", R"("1")"},
      {R"("${~ 1 ~}")", "1"},
      {"<<E\n${~ 1 ~}\nE", R"("1")"},
      {R"("${"${"x"}"}")", R"("x")"},
      {R"("%{ if true }a%{ else }${null}%{ endif }")", R"("a")"},
      {"<<-E\n  a\n    ${var.s}\n  b\n  E", R"("a\n  text\nb\n")"},
      {"<<E\n${1}\nE", R"("1\n")"},
      {R"("e\u0301")", "\"é\""},
      {R"("a${"b"}${1}" == "ab1")", "true"},
      {R"("%{ for x in var.objects }${x.id}%{ endfor }")", R"("onetwo")"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Row rows[] = {
      {R"("a${null}")",
       "CONFIG_PARSE 1:9-1:13 invalid template interpolation value: the expression result is null (cannot include a "
       "null value in a string template)"},
      {R"("a${[]}")",
       "CONFIG_PARSE 1:9-1:11 invalid template interpolation value: cannot include the given value in a string "
       "template: string required, but have tuple"},
      {R"("a${{}}")",
       "CONFIG_PARSE 1:9-1:11 invalid template interpolation value: cannot include the given value in a string "
       "template: string required, but have object"},
      {R"("a${upper([])}")",
       "CONFIG_PARSE 1:15-1:17 invalid function argument: invalid value for \"str\" parameter: string required, but "
       "have tuple"},
      {R"("%{ if null }a%{ endif }")",
       "CONFIG_PARSE 1:12-1:16 null condition: the condition value is null (conditions must either be true or false)"},
      {R"("%{ if "x" }a%{ endif }")",
       "CONFIG_PARSE 1:12-1:15 incorrect condition type: the condition expression must be of type bool"},
      {R"("%{ for x in null }a%{ endfor }")",
       "CONFIG_PARSE 1:18-1:22 iteration over null value: a null value cannot be used as the collection in a 'for' "
       "expression"},
      {R"("%{ for x in 5 }a%{ endfor }")",
       "CONFIG_PARSE 1:18-1:19 iteration over non-iterable value: a value of type number cannot be used as the "
       "collection in a 'for' expression"},
      {R"("%{ for x in [null] }${x} %{ endfor }")",
       "CONFIG_PARSE 1:28-1:29 invalid template interpolation value: the expression result is null (cannot include a "
       "null value in a string template)"},
      {R"("%{ for x in [null] }${x}%{ endfor }")",
       "CONFIG_PARSE 1:28-1:29 invalid template interpolation value: the expression result is null (cannot include a "
       "null value in a string template)"},
      {R"("%{ if true }${[]}%{ endif }")",
       "CONFIG_PARSE 1:20-1:22 invalid template interpolation value: cannot include the given value in a string "
       "template: string required, but have tuple"},
      {R"("%{ if false }a%{ else }${null}%{ endif }")",
       "CONFIG_PARSE 1:31-1:35 invalid template interpolation value: the expression result is null (cannot include a "
       "null value in a string template)"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_SUITE_END()

using namespace modlock;

std::string with_files(std::string_view text) {
  return show(evaluate_text(text, {{"plain.tftpl", "hello"},
                                   {"name.tftpl", "hello ${name}"},
                                   {"list.tftpl", "${items}"},
                                   {"loop.tftpl", "%{ for x in items ~}\n${x}\n%{ endfor ~}\n"},
                                   {"outer.tftpl", "<${templatefile(\"name.tftpl\", { name = upper(who) })}>"},
                                   {"self.tftpl", "${templatefile(\"self.tftpl\", {})}"},
                                   {"broken.tftpl", "a\n${name"},
                                   {"wrong.tftpl", "a\n  ${name.x}"},
                                   {"var.tftpl", "${var.s}"},
                                   {"provider.tftpl", "${provider::a::b()}"}}));
}

BOOST_AUTO_TEST_SUITE(template_functions)

BOOST_AUTO_TEST_CASE(templatefile) {
  const Row rows[] = {
      {R"(templatefile("plain.tftpl", {}))", R"("hello")"},
      {R"(templatefile("name.tftpl", { name = "you" }))", R"("hello you")"},
      {R"(templatefile("name.tftpl", { name = 5, more = true }))", R"("hello 5")"},
      {R"(templatefile("name.tftpl", tomap({ name = "you" })))", R"("hello you")"},
      {R"(templatefile("list.tftpl", { items = [1] }))", "[1]"},
      {R"(templatefile("loop.tftpl", { items = ["a", "b"] }))", R"("a\nb\n")"},
      {R"(templatefile("outer.tftpl", { who = "you" }))", R"("<hello YOU>")"},
      {R"(core::templatefile("plain.tftpl", {}))", R"("hello")"},
      {R"(templatefile("var.tftpl", { var = { s = "own" } }))", R"("own")"},
      {R"(templatefile("name.tftpl", { name = var.secret }))", R"("hello hidden"!s)"},
      {R"(templatefile("plain.tftpl", { name = var.secret }))", R"("hello"!s)"},
      {R"(templatefile(sensitive("plain.tftpl"), {}))", R"("hello"!s)"},
      {R"(try(templatefile("none.tftpl", {}), "x"))", R"("x")"},
      {R"(can(templatefile("broken.tftpl", { name = 1 })))", "false"},
  };
  check(rows, with_files);
}

BOOST_AUTO_TEST_CASE(templatefile_errors) {
  const Row rows[] = {
      {R"(templatefile("none.tftpl", {}))",
       "NOT_FOUND 1:18-1:30 invalid function argument: invalid value for \"path\" parameter: no file exists at "
       "\"none.tftpl\""},
      {R"(templatefile(sensitive("none.tftpl"), {}))",
       "NOT_FOUND 1:18-1:41 invalid function argument: invalid value for \"path\" parameter: this file cannot be read"},
      {R"(try(templatefile("../x", {}), 1))",
       "PATH_OUTSIDE_ROOT 1:22-1:28 invalid function argument: invalid value for \"path\" parameter: \"../x\" is "
       "outside of the root (keep the file below the root, or allow its directory with --workspace-root)"},
      {R"(templatefile("name.tftpl", {}))",
       "CONFIG_PARSE 1:32-1:34 invalid function argument: invalid value for \"vars\" parameter: vars map does not "
       "contain "
       "key \"name\", referenced at name.tftpl:1:9"},
      {R"(templatefile(sensitive("name.tftpl"), {}))",
       "CONFIG_PARSE 1:43-1:45 invalid function argument: invalid value for \"vars\" parameter: vars map does not "
       "contain "
       "a key that the template refers to"},
      {R"(templatefile("plain.tftpl", [1]))",
       "CONFIG_PARSE 1:33-1:36 invalid function argument: invalid value for \"vars\" parameter: invalid vars value: "
       "must "
       "be a map"},
      {R"(templatefile("plain.tftpl", null))",
       "CONFIG_PARSE 1:33-1:37 invalid function argument: invalid value for \"vars\" parameter: argument must not be "
       "null"},
      {R"(templatefile("plain.tftpl", { "a b" = 1 }))",
       "CONFIG_PARSE 1:33-1:46 invalid function argument: invalid value for \"vars\" parameter: invalid template "
       "variable "
       "name \"a b\": must start with a letter, followed by zero or more letters, digits, and underscores"},
      {R"(templatefile("plain.tftpl", sensitive({ "a b" = 1 })))",
       "CONFIG_PARSE 1:33-1:57 invalid function argument: invalid value for \"vars\" parameter: invalid template "
       "variable "
       "name: must start with a letter, followed by zero or more letters, digits, and underscores"},
      {R"(templatefile("broken.tftpl", { name = 1 }))",
       "CONFIG_PARSE 1:5-1:47 error in function call: call to function \"templatefile\" failed: \"${\" is never "
       "closed: "
       "expected \"}\" to end the interpolation before the end of the file"},
      {R"(templatefile("wrong.tftpl", { name = 1 }))",
       "CONFIG_PARSE 1:5-1:46 error in function call: call to function \"templatefile\" failed: unsupported attribute: "
       "can't access attributes on a primitive-typed value (number)"},
      {R"(templatefile("wrong.tftpl", { name = var.secret }))",
       "CONFIG_PARSE 1:5-1:55 error in function call: call to function \"templatefile\" failed: the template is "
       "invalid (the cause is hidden because a value here is sensitive or ephemeral)"},
      {R"(templatefile(sensitive("wrong.tftpl"), { name = 1 }))",
       "CONFIG_PARSE 1:5-1:57 error in function call: call to function \"templatefile\" failed: the template is "
       "invalid (the cause is hidden because a value here is sensitive or ephemeral)"},
  };
  check(rows, with_files);
}

BOOST_AUTO_TEST_CASE(an_error_in_a_file_names_its_place_there) {
  const Result<eval::Value> result =
      evaluate_text(R"(templatefile("wrong.tftpl", { name = 1 }))", {{"wrong.tftpl", "a\n  ${name.x}"}});
  BOOST_TEST_REQUIRE(!result.has_value());
  BOOST_TEST_REQUIRE(result.error().related.size() == 1U);
  BOOST_TEST(to_string(result.error().related[0].location) == "wrong.tftpl:2:10");
}

BOOST_AUTO_TEST_CASE(templatestring) {
  const Row rows[] = {
      {R"(templatestring("a $${b}", { b = 1 }))", R"("a 1")"},
      {R"(templatestring("$${b}", { b = [1] }))", "[1]"},
      {R"(templatestring("", {}))", R"("")"},
      {R"(templatestring(var.secret, {}))", R"("hidden"!s)"},
      {R"(templatestring("x $${b}", { b = var.secret, c = 1 }))", R"("x hidden"!s)"},
      {R"(templatestring("x $${c}", { b = var.secret, c = 1 }))", R"("x 1")"},
      {R"(templatestring("x", sensitive({})))", R"("x"!s)"},
      {R"(templatestring("$${c}", {}))",
       "CONFIG_PARSE 1:29-1:31 invalid function argument: invalid value for \"vars\" parameter: vars map does not "
       "contain "
       "key \"c\", referenced at <templatestring argument>:1:3"},
      {R"(templatestring(null, {}))",
       "CONFIG_PARSE 1:20-1:24 invalid function argument: invalid value for \"data\" parameter: argument must not be "
       "null"},
      {R"(templatestring(sensitive("$${c"), {}))",
       "CONFIG_PARSE 1:5-1:42 error in function call: call to function \"templatestring\" failed: the template is "
       "invalid (the cause is hidden because a value here is sensitive or ephemeral)"},
  };
  check(rows, with_files);
}

BOOST_AUTO_TEST_CASE(provider_functions_are_not_static_in_templates_either) {
  BOOST_TEST(with_files(R"(try(templatefile("provider.tftpl", {}), 1))") ==
             "CONFIG_NON_STATIC 1:9-1:43 error in function call: call to function \"templatefile\" failed: provider "
             "function in static context: unable to use provider::a::b (use built-in functions here: providers are not "
             "installed yet when this is read)");
}

BOOST_AUTO_TEST_CASE(templates_in_templates_end) {
  const Row rows[] = {
      {R"(can(templatefile("self.tftpl", {})))", "LIMIT_EXCEEDED"},
      {R"(can(templatestring("$${templatestring(t, { t = t })}", { t = "$${templatestring(t, { t = t })}" })))",
       "LIMIT_EXCEEDED"},
  };
  check(rows, [](std::string_view text) { return with_files(text).substr(0, 14); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
