#include "plugin/config/config_schema.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/structure_rows.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(structure_values)

BOOST_AUTO_TEST_CASE(variables) {
  const StructureRow rows[] = {
      {"var unknown",
       {{"main.tf", "variable \"a\" {\n foo=1\n}\n"}},
       "error main.tf:2:2 `foo`: Unsupported argument: a variable block has no argument \"foo\""},
      {"var unknown block",
       {{"main.tf", "variable \"a\" {\n foo {}\n}\n"}},
       "error main.tf:2:2 `foo`: Unsupported block type: a variable block has no blocks of type \"foo\""},
      {"var const", {{"main.tf", "variable \"a\" {\n const=true\n default=\"x\"\n}\n"}}, ""},
      {"var deprecated", {{"main.tf", "variable \"a\" {\n deprecated=\"x\"\n}\n"}}, ""},
      {"var validation",
       {{"main.tf",
         "variable \"a\" {\n default=1\n validation {\n condition = var.a > 0\n error_message=\"x\"\n}\n}\n"}},
       ""},
      {"var validation self",
       {{"main.tf",
         "variable \"a\" {\n default=1\n validation {\n condition = var.b > 0\n error_message=\"x\"\n}\n}\nvariable "
         "\"b\" {\n default=1\n}\n"}},
       "error main.tf:4:14 `var.b > 0`: Invalid variable validation condition: the condition for variable \"a\" must "
       "refer to var.a"},
      {"var validation const",
       {{"main.tf", "variable \"a\" {\n validation {\n condition = true\n error_message=\"x\"\n}\n}\n"}},
       "error main.tf:3:14 `true`: Invalid validation expression: the condition must refer to at least one object from "
       "elsewhere in the configuration"},
      {"var validation missing",
       {{"main.tf", "variable \"a\" {\n validation {\n condition = var.a\n}\n}\n"}},
       "error main.tf:2:2 `validation`: Missing required argument: a validation block needs the argument "
       "\"error_message\""},
      {"j var",
       {{"main.tf.json", "{\"variable\":{\"a\":{\"foo\":1}}}"}},
       "error main.tf.json:1:19 `\"foo\"`: Unsupported argument: a variable block has no argument \"foo\""},
      {"j validation",
       {{"main.tf.json",
         "{\"variable\":{\"x\":{\"default\":1,\"validation\":{\"condition\":\"${var.x > "
         "0}\",\"error_message\":\"x\"}}}}"}},
       ""},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_CASE(outputs) {
  const StructureRow rows[] = {
      {"output novalue",
       {{"main.tf", "output \"a\" {}\n"}},
       "error main.tf:1:1 `output \"a\"`: Missing required argument: an output block needs the argument \"value\""},
      {"output badname",
       {{"main.tf", "output \"1a\" {\n value=1\n}\n"}},
       "error main.tf:1:8 `\"1a\"`: Invalid output name: \"1a\" must start with a letter or underscore and may contain "
       "only letters, digits, underscores and dashes"},
      {"output dup",
       {{"main.tf", "output \"a\" {\n value=1\n}\noutput \"a\" {\n value=2\n}\n"}},
       "error main.tf:4:1 `output \"a\"`: Duplicate output: the output \"a\" was already declared"},
      {"output sens",
       {{"main.tf", "output \"a\" {\n value=1\n sensitive=var.x\n}\n"}},
       "error main.tf:3:12 `var.x`: Unsuitable value: sensitive must be a bool that is written out, found an "
       "expression"},
      {"output sens str", {{"main.tf", "output \"a\" {\n value=1\n sensitive=\"true\"\n}\n"}}, ""},
      {"output sens one",
       {{"main.tf", "output \"a\" {\n value=1\n sensitive=1\n}\n"}},
       "error main.tf:3:12 `1`: Unsuitable value: sensitive must be a bool that is written out, found a number"},
      {"output sens null",
       {{"main.tf", "output \"a\" {\n value=1\n sensitive=null\n}\n"}},
       "error main.tf:3:12 `null`: Unsuitable value: sensitive must be a bool that is written out, found null"},
      {"output desc num", {{"main.tf", "output \"a\" {\n value=1\n description=1\n}\n"}}, ""},
      {"output desc null",
       {{"main.tf", "output \"a\" {\n value=1\n description=null\n}\n"}},
       "error main.tf:3:14 `null`: Unsuitable value: description must be a string that is written out, found null"},
      {"output desc fn",
       {{"main.tf", "output \"a\" {\n value=1\n description=upper(\"x\")\n}\n"}},
       "error main.tf:3:14 `upper(\"x\")`: Unsuitable value: description must be a string that is written out, found "
       "an expression"},
      {"output desc op", {{"main.tf", "output \"a\" {\n value=1\n sensitive=!false\n}\n"}}, ""},
      {"output dep",
       {{"main.tf", "output \"a\" {\n value=1\n deprecated=\" \"\n}\n"}},
       "error main.tf:3:13 `\" \"`: Invalid deprecated attribute: the \"deprecated\" argument must not be empty"},
      {"output dep ok", {{"main.tf", "output \"a\" {\n value=1\n deprecated=\"x\"\n}\n"}}, ""},
      {"output post",
       {{"main.tf", "output \"a\" {\n value=1\n postcondition {\n condition = var.x\n error_message = \"x\"\n}\n}\n"}},
       "error main.tf:3:2 `postcondition`: Postconditions are not allowed: output values can only have preconditions, "
       "not postconditions"},
      {"output pre",
       {{"main.tf",
         "variable \"x\" {\n default=true\n}\noutput \"a\" {\n value=1\n precondition {\n condition = var.x\n "
         "error_message = \"x\"\n}\n}\n"}},
       ""},
      {"output depends",
       {{"main.tf",
         "output \"a\" {\n value=1\n depends_on=[null_resource.x]\n}\nresource \"null_resource\" \"x\" {}\n"}},
       ""},
      {"output depends str",
       {{"main.tf",
         "output \"a\" {\n value=1\n depends_on=[\"null_resource.x\"]\n}\nresource \"null_resource\" \"x\" {}\n"}},
       "warning main.tf:3:14 `\"null_resource.x\"`: Quoted references are deprecated: a reference is expected without "
       "quotes"},
      {"output depends bad",
       {{"main.tf", "output \"a\" {\n value=1\n depends_on=null_resource.x\n}\nresource \"null_resource\" \"x\" {}\n"}},
       "error main.tf:3:13 `null_resource.x`: Invalid expression: depends_on needs a list of references"},
      {"output depends call",
       {{"main.tf", "output \"a\" {\n value=1\n depends_on=[foo()]\n}\n"}},
       "error main.tf:3:14 `foo()`: Invalid expression: depends_on needs a list of references"},
      {"j out",
       {{"main.tf.json", "{\"output\":{\"a\":{}}}"}},
       "error main.tf.json:1:16 `{`: Missing required argument: an output block needs the argument \"value\""},
      {"j out2", {{"main.tf.json", "{\"output\":{\"a\":{\"value\":\"${1}\",\"sensitive\":true}}}"}}, ""},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_CASE(checks) {
  const StructureRow rows[] = {
      {"check noassert",
       {{"main.tf", "check \"x\" {}\n"}},
       "error main.tf:1:1 `check \"x\"`: Zero assert blocks: a check block must have at least one assert block"},
      {"check twodata",
       {{"main.tf",
         "check \"k\" {\n data \"a_b\" \"c\" {}\n data \"a_b\" \"d\" {}\n assert {\n condition=data.a_b.c.x\n "
         "error_message=\"x\"\n}\n}\n"}},
       "error main.tf:3:2 `data \"a_b\" \"d\"`: Duplicate data block: a check block can have only one such block"},
      {"check data count",
       {{"main.tf",
         "check \"k\" {\n data \"a_b\" \"c\" {\n count=1\n}\n assert {\n condition=data.a_b.c.x\n "
         "error_message=\"x\"\n}\n}\n"}},
       "error main.tf:3:2 `count`: Invalid \"count\" attribute: it is not supported in the data block of a check"},
      {"check data lifecycle",
       {{"main.tf",
         "check \"k\" {\n data \"a_b\" \"c\" {\n lifecycle {}\n}\n assert {\n condition=data.a_b.c.x\n "
         "error_message=\"x\"\n}\n}\n"}},
       "error main.tf:3:2 `lifecycle`: Invalid lifecycle block: the data block of a check has no lifecycle block"},
      {"check dup",
       {{"main.tf",
         "check \"k\" {\n assert {\n condition=var.x\n error_message=\"x\"\n}\n}\ncheck \"k\" {\n assert {\n "
         "condition=var.x\n error_message=\"x\"\n}\n}\nvariable \"x\" {\n default=1\n}\n"}},
       "error main.tf:7:1 `check \"k\"`: Duplicate check: the check \"k\" was already declared"},
      {"check data dup",
       {{"main.tf",
         "data \"a_b\" \"c\" {}\ncheck \"k\" {\n data \"a_b\" \"c\" {}\n assert {\n condition=data.a_b.c.x\n "
         "error_message=\"x\"\n}\n}\n"}},
       "error main.tf:3:2 `data \"a_b\" \"c\"`: Duplicate data resource: the data resource a_b.c was already declared"},
      {"j check",
       {{"main.tf.json",
         "{\"check\":{\"k\":{\"data\":{\"a_b\":{\"c\":{}}},\"assert\":{\"condition\":\"${data.a_b.c.x}\",\"error_"
         "message\":\"x\"}}}}"}},
       ""},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_SUITE_END()
