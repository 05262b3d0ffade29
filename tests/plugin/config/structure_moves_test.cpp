#include "plugin/config/config_schema.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/structure_rows.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(structure_moves)

BOOST_AUTO_TEST_CASE(moved) {
  const StructureRow rows[] = {
      {"moved ok", {{"main.tf", "moved {\n from=a_b.c\n to=a_b.d\n}\nresource \"a_b\" \"d\" {}\n"}}, ""},
      {"moved missing",
       {{"main.tf", "moved {\n from=a_b.c\n}\n"}},
       "error main.tf:1:1 `moved`: Missing required argument: a moved block needs the argument \"to\""},
      {"moved mixed",
       {{"main.tf", "moved {\n from=a_b.c\n to=module.d\n}\n"}},
       "error main.tf:1:1 `moved`: Invalid moved addresses: \"from\" and \"to\" must both refer to resources or both "
       "to modules"},
      {"moved modkeys", {{"main.tf", "moved {\n from=module.a[\"x\"].a_b.c[0]\n to=module.b.a_b.c[\"y\"]\n}\n"}}, ""},
      {"moved eph",
       {{"main.tf", "moved {\n from=ephemeral.a_b.c\n to=ephemeral.a_b.d\n}\n"}},
       "error main.tf:2:7 `ephemeral.a_b.c`: Invalid moved address: the ephemeral resource that \"from\" names cannot "
       "be moved\n"
       "error main.tf:3:5 `ephemeral.a_b.d`: Invalid moved address: the ephemeral resource that \"to\" names cannot be "
       "moved"},
      {"moved data", {{"main.tf", "moved {\n from=data.a_b.c\n to=data.a_b.d\n}\n"}}, ""},
      {"moved data res", {{"main.tf", "moved {\n from=data.a_b.c\n to=a_b.d\n}\n"}}, ""},
      {"moved bad",
       {{"main.tf", "moved {\n from=a_b\n to=a_b.c\n}\n"}},
       "error main.tf:2:7 `a_b`: Invalid address: from must be the address of a resource or module"},
      {"moved str",
       {{"main.tf", "moved {\n from=\"a_b.x\"\n to=a_b.c\n}\n"}},
       "error main.tf:2:7 `\"a_b.x\"`: Invalid address: from must be the address of a resource or module"},
      {"moved extra",
       {{"main.tf", "moved {\n from=a_b.x.y\n to=a_b.c\n}\n"}},
       "error main.tf:2:7 `a_b.x.y`: Invalid address: from must be the address of a resource or module"},
      {"j moved", {{"main.tf.json", "{\"moved\":{\"from\":\"a_b.c\",\"to\":\"a_b.d\"}}"}}, ""},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_CASE(removed) {
  const StructureRow rows[] = {
      {"removed ok", {{"main.tf", "removed {\n from=a_b.c\n lifecycle {\n destroy=false\n}\n}\n"}}, ""},
      {"removed key",
       {{"main.tf", "removed {\n from=a_b.c[0]\n}\n"}},
       "error main.tf:2:7 `a_b.c[0]`: Address with keys is not allowed: \"from\" must name a whole resource or module"},
      {"removed modkey",
       {{"main.tf", "removed {\n from=module.x[0].a_b.c\n}\n"}},
       "error main.tf:2:7 `module.x[0].a_b.c`: Address with keys is not allowed: \"from\" must name a whole resource "
       "or module"},
      {"removed data",
       {{"main.tf", "removed {\n from=data.a_b.c\n}\n"}},
       "error main.tf:2:7 `data.a_b.c`: Data source address is not allowed: only managed resources and modules can be "
       "removed so"},
      {"removed module", {{"main.tf", "removed {\n from=module.a\n lifecycle {\n destroy=false\n}\n}\n"}}, ""},
      {"removed prov",
       {{"main.tf",
         "removed {\n from=a_b.c\n lifecycle {\n destroy=true\n}\n provisioner \"local-exec\" {\n when=destroy\n "
         "command=\"x\"\n}\n}\n"}},
       ""},
      {"removed prov create",
       {{"main.tf",
         "removed {\n from=a_b.c\n lifecycle {\n destroy=true\n}\n provisioner \"local-exec\" {\n "
         "command=\"x\"\n}\n}\n"}},
       "error main.tf:6:2 `provisioner \"local-exec\"`: Invalid removed.provisioner block: removed blocks can only "
       "contain destroy provisioners"},
      {"removed nolc", {{"main.tf", "removed {\n from=a_b.c\n}\n"}}, ""},
      {"removed conn",
       {{"main.tf", "removed {\n from=a_b.c\n connection {}\n lifecycle {\n destroy=true\n}\n}\n"}},
       "error main.tf:3:2 `connection`: Unsupported block type: a removed block has no blocks of type \"connection\""},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_CASE(imports) {
  const StructureRow rows[] = {
      {"import ok", {{"main.tf", "import {\n to=a_b.c\n id=\"x\"\n}\nresource \"a_b\" \"c\" {}\n"}}, ""},
      {"import noid",
       {{"main.tf", "import {\n to=a_b.c\n}\n"}},
       "error main.tf:1:1 `import`: Missing required import argument: one of \"id\" and \"identity\" must be given"},
      {"import both",
       {{"main.tf", "import {\n to=a_b.c\n id=\"x\"\n identity={}\n}\n"}},
       "error main.tf:4:2 `identity={}`: Conflicting import arguments: only one of \"id\" and \"identity\" can be "
       "given"},
      {"import identity", {{"main.tf", "import {\n to=a_b.c\n identity={}\n}\nresource \"a_b\" \"c\" {}\n"}}, ""},
      {"import noto",
       {{"main.tf", "import {\n id=\"x\"\n}\n"}},
       "error main.tf:1:1 `import`: Missing required argument: an import block needs the argument \"to\""},
      {"import data", {{"main.tf", "import {\n to=data.a_b.c\n id=\"x\"\n}\n"}}, ""},
      {"import module",
       {{"main.tf", "import {\n to=module.x\n id=\"x\"\n}\n"}},
       "error main.tf:2:5 `module.x`: Invalid import address expression: \"to\" must be the address of a resource"},
      {"import dup",
       {{"main.tf",
         "import {\n to=a_b.c\n id=\"x\"\n}\nimport {\n to=a_b.c\n id=\"y\"\n}\nresource \"a_b\" \"c\" {}\n"}},
       "error main.tf:5:1 `import`: Duplicate import configuration: an import block for a_b.c was already declared"},
      {"import dyn",
       {{"main.tf",
         "import {\n for_each={a=1}\n to=a_b.c[each.key]\n id=\"x\"\n}\nresource \"a_b\" \"c\" {\n "
         "for_each={a=1}\n}\n"}},
       ""},
      {"import inmod",
       {{"main.tf", "import {\n to=module.m.q_b.c\n id=\"x\"\n}\nmodule \"m\" {\n source=\"./m\"\n}\n"}},
       ""},
      {"import expr",
       {{"main.tf", "import {\n to=foo()\n id=\"x\"\n}\n"}},
       "error main.tf:2:5 `foo()`: Invalid import address expression: \"to\" must be the address of a resource"},
      {"import literal",
       {{"main.tf", "import {\n to=null.a\n id=\"x\"\n}\n"}},
       "error main.tf:2:5 `null.a`: Invalid import address expression: \"to\" must be the address of a resource"},
      {"j import literal",
       {{"main.tf.json", "{\"import\":{\"to\":\"null.a\",\"id\":\"x\"}}"}},
       "error main.tf.json:1:17 `\"null.a\"`: Invalid import address expression: \"to\" must be the address of a "
       "resource"},
      {"j import",
       {{"main.tf.json", "{\"import\":[{\"to\":\"a_b.c\",\"id\":\"x\"}],\"resource\":{\"a_b\":{\"c\":{}}}}"}},
       ""},
      {"j import dyn",
       {{"main.tf.json",
         "{\"import\":[{\"to\":\"a_b.c[each.key]\",\"id\":\"x\",\"for_each\":{\"a\":1}}],\"resource\":{\"a_b\":{\"c\":{"
         "\"for_each\":{\"a\":1}}}}}"}},
       ""},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_SUITE_END()
