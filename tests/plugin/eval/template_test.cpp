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

}  // namespace
