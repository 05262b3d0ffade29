#include "plugin/config/config_schema.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/structure_rows.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(structure_resource)

BOOST_AUTO_TEST_CASE(resources) {
  const StructureRow rows[] = {
      {"res dup",
       {{"main.tf", "resource \"a_b\" \"c\" {}\nresource \"a_b\" \"c\" {}\n"}},
       "error main.tf:2:1 `resource \"a_b\" \"c\"`: Duplicate resource: the resource a_b.c was already declared"},
      {"res badtype",
       {{"main.tf", "resource \"a b\" \"c\" {}\n"}},
       "error main.tf:1:10 `\"a b\"`: Invalid resource type name: \"a b\" must start with a letter or underscore and "
       "may contain only letters, digits, underscores and dashes"},
      {"res badname",
       {{"main.tf", "resource \"a_b\" \"1c\" {}\n"}},
       "error main.tf:1:16 `\"1c\"`: Invalid resource name: \"1c\" must start with a letter or underscore and may "
       "contain only letters, digits, underscores and dashes"},
      {"res count foreach",
       {{"main.tf", "resource \"a_b\" \"c\" {\n count=1\n for_each={}\n}\n"}},
       "error main.tf:3:2 `for_each`: Invalid combination of \"count\", \"for_each\": these meta-arguments are "
       "mutually exclusive"},
      {"res count enabled",
       {{"main.tf", "resource \"a_b\" \"c\" {\n count=1\n lifecycle {\n enabled=true\n}\n}\n"}},
       "error main.tf:4:2 `enabled`: Invalid combination of \"count\", \"enabled\": these meta-arguments are mutually "
       "exclusive"},
      {"res lifecycle twice",
       {{"main.tf", "resource \"a_b\" \"c\" {\n lifecycle {}\n lifecycle {}\n}\n"}},
       "error main.tf:3:2 `lifecycle`: Duplicate lifecycle block: a resource block can have only one such block"},
      {"res lifecycle unknown",
       {{"main.tf", "resource \"a_b\" \"c\" {\n lifecycle {\n foo=1\n}\n}\n"}},
       "error main.tf:3:2 `foo`: Unsupported argument: a lifecycle block has no argument \"foo\""},
      {"res lifecycle destroy", {{"main.tf", "resource \"a_b\" \"c\" {\n lifecycle {\n destroy=false\n}\n}\n"}}, ""},
      {"res cbd",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n lifecycle {\n create_before_destroy=var.x\n}\n}\nvariable \"x\" {\n "
         "default=true\n}\n"}},
       "error main.tf:3:24 `var.x`: Unsuitable value: create_before_destroy must be a bool that is written out, found "
       "an expression"},
      {"res pd",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n lifecycle {\n prevent_destroy=var.x\n}\n}\nvariable \"x\" {\n default=true\n}\n"}},
       ""},
      {"res conn twice",
       {{"main.tf", "resource \"a_b\" \"c\" {\n connection {}\n connection {}\n}\n"}},
       "error main.tf:3:2 `connection`: Duplicate connection block: a resource block can have only one such block"},
      {"res locals",
       {{"main.tf", "resource \"a_b\" \"c\" {\n locals {}\n}\n"}},
       "error main.tf:2:2 `locals`: Reserved block type name in a resource block: \"locals\" is reserved for a future "
       "version of OpenTofu"},
      {"res escape", {{"main.tf", "resource \"a_b\" \"c\" {\n _ {}\n}\n"}}, ""},
      {"res escape2",
       {{"main.tf", "resource \"a_b\" \"c\" {\n _ {}\n _ {}\n}\n"}},
       "error main.tf:3:2 `_`: Duplicate escaping block: a resource block can have only one such block"},
      {"res precond self",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n lifecycle {\n precondition {\n condition = a_b.c.id == 1\n "
         "error_message=\"x\"\n}\n}\n}\n"}},
       "error main.tf:4:14 `a_b.c.id == 1`: Invalid reference in precondition: the configuration for a_b.c may not "
       "refer to itself"},
      {"res postcond self",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n lifecycle {\n postcondition {\n condition = self.id == 1\n "
         "error_message=\"x\"\n}\n}\n}\n"}},
       ""},
      {"j lifecycle",
       {{"main.tf.json",
         "{\"resource\":{\"a_b\":{\"c\":{\"lifecycle\":{\"ignore_changes\":\"all\",\"create_before_destroy\":true}}}}"
         "}"}},
       ""},
      {"j depends", {{"main.tf.json", "{\"resource\":{\"a_b\":{\"c\":{\"depends_on\":[\"a_b.d\"]},\"d\":{}}}}"}}, ""},
      {"j res",
       {{"main.tf.json",
         "{\"resource\":{\"a_b\":{\"c\":{\"provider\":\"z.y\"}}},\"provider\":{\"z\":{\"alias\":\"y\"}}}"}},
       ""},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_CASE(changes_and_triggers) {
  const StructureRow rows[] = {
      {"res ign all", {{"main.tf", "resource \"a_b\" \"c\" {\n lifecycle {\n ignore_changes=all\n}\n}\n"}}, ""},
      {"res ign star",
       {{"main.tf", "resource \"a_b\" \"c\" {\n lifecycle {\n ignore_changes=[\"*\"]\n}\n}\n"}},
       "error main.tf:3:18 `\"*\"`: Invalid ignore_changes wildcard: [\"*\"] is no longer valid"},
      {"res ign list",
       {{"main.tf", "resource \"a_b\" \"c\" {\n lifecycle {\n ignore_changes=[a, b.c, d[\"x\"], \"e\"]\n}\n}\n"}},
       "warning main.tf:3:34 `\"e\"`: Quoted references are deprecated: a reference is expected without quotes"},
      {"res ign bad",
       {{"main.tf", "resource \"a_b\" \"c\" {\n lifecycle {\n ignore_changes=foo\n}\n}\n"}},
       "error main.tf:3:17 `foo`: Invalid expression: ignore_changes needs a list of arguments, or the keyword all"},
      {"res ign bad2",
       {{"main.tf", "resource \"a_b\" \"c\" {\n lifecycle {\n ignore_changes=[foo()]\n}\n}\n"}},
       "error main.tf:3:18 `foo()`: Invalid expression: ignore_changes needs a list of arguments of the resource"},
      {"res rtb",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n lifecycle {\n replace_triggered_by=[a_b.d, a_b.d.x, a_b.d[0]]\n}\n}\nresource "
         "\"a_b\" \"d\" {}\n"}},
       ""},
      {"res rtb var",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n lifecycle {\n replace_triggered_by=[var.x]\n}\n}\nvariable \"x\" {\n "
         "default=true\n}\n"}},
       "error main.tf:3:24 `var.x`: Invalid reference in replace_triggered_by expression: only resources, count.index "
       "and each.key may be used"},
      {"res rtb each",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n for_each={a=1}\n lifecycle {\n "
         "replace_triggered_by=[a_b.d[each.key]]\n}\n}\nresource \"a_b\" \"d\" {}\n"}},
       ""},
      {"res rtb eachval",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n for_each={a=1}\n lifecycle {\n "
         "replace_triggered_by=[a_b.d[each.value]]\n}\n}\nresource \"a_b\" \"d\" {}\n"}},
       "error main.tf:4:24 `a_b.d[each.value]`: Invalid reference in replace_triggered_by expression: only resources, "
       "count.index and each.key may be used"},
      {"res rtb two",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n lifecycle {\n replace_triggered_by=[a_b.d[a_b.e.x]]\n}\n}\nresource \"a_b\" \"d\" "
         "{}\n"}},
       "error main.tf:3:24 `a_b.d[a_b.e.x]`: Invalid replace_triggered_by expression: more than one resource "
       "reference"},
      {"res rtb data",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n lifecycle {\n replace_triggered_by=[data.a_b.d]\n}\n}\ndata \"a_b\" \"d\" {}\n"}},
       ""},
      {"res rtb local",
       {{"main.tf", "resource \"a_b\" \"c\" {\n lifecycle {\n replace_triggered_by=[local.x]\n}\n}\n"}},
       "error main.tf:3:24 `local.x`: Invalid reference in replace_triggered_by expression: only resources, "
       "count.index and each.key may be used"},
      {"res rtb none",
       {{"main.tf", "resource \"a_b\" \"c\" {\n lifecycle {\n replace_triggered_by=[1]\n}\n}\n"}},
       "error main.tf:3:24 `1`: Invalid replace_triggered_by expression: missing resource reference"},
      {"j lifecycle2",
       {{"main.tf.json", "{\"resource\":{\"a_b\":{\"c\":{\"lifecycle\":{\"ignore_changes\":[\"a\",\"b.c\"]}}}}}"}},
       ""},
      {"j rtb",
       {{"main.tf.json",
         "{\"resource\":{\"a_b\":{\"c\":{\"lifecycle\":{\"replace_triggered_by\":[\"a_b.d\"]}},\"d\":{}}}}"}},
       ""},
      {"j rtb var",
       {{"main.tf.json", "{\"resource\":{\"a_b\":{\"c\":{\"lifecycle\":{\"replace_triggered_by\":[\"var.x\"]}}}}}"}},
       "error main.tf.json:1:63 `\"var.x\"`: Invalid reference in replace_triggered_by expression: only resources, "
       "count.index and each.key may be used"},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_CASE(provisioners) {
  const StructureRow rows[] = {
      {"res prov",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n provisioner \"local-exec\" {\n when=destroy\n on_failure=continue\n "
         "command=\"x\"\n}\n}\n"}},
       ""},
      {"res prov quoted",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n provisioner \"local-exec\" {\n when=\"destroy\"\n on_failure=\"continue\"\n "
         "command=\"x\"\n}\n}\n"}},
       "warning main.tf:3:7 `\"destroy\"`: Quoted keywords are deprecated: a keyword is expected without quotes\n"
       "warning main.tf:4:13 `\"continue\"`: Quoted keywords are deprecated: a keyword is expected without quotes"},
      {"res prov bad",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provisioner \"local-exec\" {\n when=never\n}\n}\n"}},
       "error main.tf:3:7 `never`: Invalid \"when\" keyword: expected create or destroy"},
      {"res prov badfail",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provisioner \"local-exec\" {\n on_failure=never\n}\n}\n"}},
       "error main.tf:3:13 `never`: Invalid \"on_failure\" keyword: expected fail or continue"},
      {"res prov chef",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provisioner \"chef\" {}\n}\n"}},
       "error main.tf:2:14 `\"chef\"`: The \"chef\" provisioner has been removed"},
      {"res prov nolabel",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provisioner {}\n}\n"}},
       "error main.tf:2:2 `provisioner`: Missing type for provisioner: a provisioner block has 1 label (type), found "
       "none"},
      {"res prov self",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n provisioner \"local-exec\" {\n when=destroy\n command=self.id\n}\n}\n"}},
       ""},
      {"res prov var",
       {{"main.tf",
         "variable \"x\" {\n default=1\n}\nresource \"a_b\" \"c\" {\n provisioner \"local-exec\" {\n when=destroy\n "
         "command=var.x\n}\n}\n"}},
       "error main.tf:7:10 `var.x`: Invalid reference from destroy provisioner: only self, count.index and each.key "
       "may be used"},
      {"res prov eachval",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n for_each={}\n provisioner \"local-exec\" {\n when=destroy\n "
         "command=each.value\n}\n}\n"}},
       "error main.tf:5:10 `each.value`: Invalid reference from destroy provisioner: only self, count.index and "
       "each.key may be used"},
      {"res prov eachkey",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n for_each={}\n provisioner \"local-exec\" {\n when=destroy\n "
         "command=each.key\n}\n}\n"}},
       ""},
      {"res prov conn",
       {{"main.tf",
         "variable \"x\" {\n default=1\n}\nresource \"a_b\" \"c\" {\n connection {\n host=var.x\n}\n provisioner "
         "\"local-exec\" {\n when=destroy\n command=self.id\n}\n}\n"}},
       "error main.tf:6:7 `var.x`: Invalid reference from destroy provisioner: only self, count.index and each.key may "
       "be used"},
      {"res prov lifecycle",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provisioner \"local-exec\" {\n lifecycle {}\n}\n}\n"}},
       "error main.tf:3:2 `lifecycle`: Reserved block type name in a provisioner block: \"lifecycle\" is reserved for "
       "a future version of OpenTofu"},
      {"j prov when",
       {{"main.tf.json",
         "{\"resource\":{\"a_b\":{\"c\":{\"provisioner\":{\"local-exec\":{\"when\":\"destroy\",\"command\":\"${self.x}"
         "\"}}}}}}"}},
       ""},
      {"j prov when var",
       {{"main.tf.json",
         "{\"variable\":{\"x\":{\"default\":1}},\"resource\":{\"a_b\":{\"c\":{\"provisioner\":{\"local-exec\":{"
         "\"when\":\"destroy\",\"command\":\"${var.x}\"}}}}}}"}},
       "error main.tf.json:1:113 `\"${var.x}\"`: Invalid reference from destroy provisioner: only self, count.index "
       "and each.key may be used"},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_CASE(data_and_ephemeral) {
  const StructureRow rows[] = {
      {"data dup",
       {{"main.tf", "data \"a_b\" \"c\" {}\ndata \"a_b\" \"c\" {}\n"}},
       "error main.tf:2:1 `data \"a_b\" \"c\"`: Duplicate data resource: the data resource a_b.c was already declared"},
      {"eph dup",
       {{"main.tf", "ephemeral \"a_b\" \"c\" {}\nephemeral \"a_b\" \"c\" {}\n"}},
       "error main.tf:2:1 `ephemeral \"a_b\" \"c\"`: Duplicate ephemeral resource: the ephemeral resource a_b.c was "
       "already declared"},
      {"data lifecycle arg",
       {{"main.tf", "data \"a_b\" \"c\" {\n lifecycle {\n ignore_changes=all\n}\n}\n"}},
       "error main.tf:3:2 `ignore_changes`: Invalid data resource lifecycle argument: \"ignore_changes\" is defined "
       "only for managed resources"},
      {"data lifecycle enabled", {{"main.tf", "data \"a_b\" \"c\" {\n lifecycle {\n enabled=true\n}\n}\n"}}, ""},
      {"data provisioner", {{"main.tf", "data \"a_b\" \"c\" {\n provisioner \"x\" {}\n}\n"}}, ""},
      {"eph provisioner",
       {{"main.tf", "ephemeral \"a_b\" \"c\" {\n provisioner \"x\" {}\n}\n"}},
       "error main.tf:2:2 `provisioner \"x\"`: Invalid configuration block for ephemeral resource: \"provisioner\" "
       "cannot be used in ephemeral resources"},
      {"eph connection",
       {{"main.tf", "ephemeral \"a_b\" \"c\" {\n connection {}\n}\n"}},
       "error main.tf:2:2 `connection`: Invalid configuration block for ephemeral resource: \"connection\" cannot be "
       "used in ephemeral resources"},
      {"eph lifecycle",
       {{"main.tf", "ephemeral \"a_b\" \"c\" {\n lifecycle {\n prevent_destroy=true\n}\n}\n"}},
       "error main.tf:3:2 `prevent_destroy`: Invalid ephemeral resource lifecycle argument: \"prevent_destroy\" is "
       "defined only for managed resources"},
      {"eph ok",
       {{"main.tf",
         "ephemeral \"a_b\" \"c\" {\n count=1\n lifecycle {\n postcondition {\n condition=self.x\n "
         "error_message=\"x\"\n}\n}\n}\n"}},
       ""},
      {"j ephemeral", {{"main.tf.json", "{\"ephemeral\":{\"a_b\":{\"c\":{}}}}"}}, ""},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_SUITE_END()
