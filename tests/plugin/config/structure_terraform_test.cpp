#include "plugin/config/config_schema.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/structure_rows.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(structure_terraform)

BOOST_AUTO_TEST_CASE(terraform) {
  const StructureRow rows[] = {
      {"var const",
       {{"main.tf", "variable \"a\" {\n const=true\n default=\"x\"\n}\n"}},
       "error main.tf:2:2 `const`: Unsupported argument: a variable block has no argument \"const\""},
      {"var deprecated",
       {{"main.tf", "variable \"a\" {\n deprecated=\"x\"\n}\n"}},
       "error main.tf:2:2 `deprecated`: Unsupported argument: a variable block has no argument \"deprecated\""},
      {"output dep ok",
       {{"main.tf", "output \"a\" {\n value=1\n deprecated=\"x\"\n}\n"}},
       "error main.tf:3:2 `deprecated`: Unsupported argument: an output block has no argument \"deprecated\""},
      {"mod lifecycle",
       {{"main.tf", "module \"m\" {\n source=\"./m\"\n lifecycle {\n enabled=true\n}\n}\n"}},
       "error main.tf:3:2 `lifecycle`: Reserved block type name in a module block: \"lifecycle\" is reserved for a "
       "future version of Terraform"},
      {"res lifecycle destroy",
       {{"main.tf", "resource \"a_b\" \"c\" {\n lifecycle {\n destroy=false\n}\n}\n"}},
       "error main.tf:3:2 `destroy`: Unsupported argument: a lifecycle block has no argument \"destroy\""},
      {"res count enabled",
       {{"main.tf", "resource \"a_b\" \"c\" {\n count=1\n lifecycle {\n enabled=true\n}\n}\n"}},
       "error main.tf:4:2 `enabled`: Unsupported argument: a lifecycle block has no argument \"enabled\""},
      {"res pd",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n lifecycle {\n prevent_destroy=var.x\n}\n}\nvariable \"x\" {\n default=true\n}\n"}},
       "error main.tf:3:18 `var.x`: Unsuitable value: prevent_destroy must be a bool that is written out, found an "
       "expression"},
      {"data lifecycle enabled",
       {{"main.tf", "data \"a_b\" \"c\" {\n lifecycle {\n enabled=true\n}\n}\n"}},
       "error main.tf:3:2 `enabled`: Unsupported argument: a lifecycle block has no argument \"enabled\""},
      {"eph connection", {{"main.tf", "ephemeral \"a_b\" \"c\" {\n connection {}\n}\n"}}, ""},
      {"prov foreach alias",
       {{"main.tf", "provider \"a\" {\n alias=\"x\"\n for_each={}\n}\n"}},
       "error main.tf:3:2 `for_each`: Reserved argument name in provider block: \"for_each\" is reserved for a future "
       "version of Terraform"},
      {"tf enc",
       {{"main.tf",
         "terraform {\nencryption {\n key_provider \"pbkdf2\" \"a\" {\n passphrase=\"aaaaaaaaaaaaaaaaaaaaaaa\"\n}\n "
         "method \"aes_gcm\" \"b\" {\n keys=key_provider.pbkdf2.a\n}\n state {\n method=method.aes_gcm.b\n}\n}\n}\n"}},
       "error main.tf:2:1 `encryption`: Unsupported block type: a terraform block has no blocks of type "
       "\"encryption\""},
      {"tf lang",
       {{"main.tf", "terraform {\nlanguage = TF2021\nexperiments = []\n}\n"}},
       "error main.tf:3:1 `experiments`: Module uses experimental features: releases of Terraform have none"},
      {"removed conn",
       {{"main.tf", "removed {\n from=a_b.c\n connection {}\n lifecycle {\n destroy=true\n}\n}\n"}},
       ""},
      {"import data",
       {{"main.tf", "import {\n to=data.a_b.c\n id=\"x\"\n}\n"}},
       "error main.tf:2:5 `data.a_b.c`: Invalid import address expression: \"to\" must be the address of a resource"},
      {"import identity",
       {{"main.tf", "import {\n to=a_b.c\n identity={}\n}\nresource \"a_b\" \"c\" {}\n"}},
       "error main.tf:1:1 `import`: Missing required argument: an import block needs the argument \"id\"\n"
       "error main.tf:3:2 `identity`: Unsupported argument: an import block has no argument \"identity\""},
      {"import noid",
       {{"main.tf", "import {\n to=a_b.c\n}\n"}},
       "error main.tf:1:1 `import`: Missing required argument: an import block needs the argument \"id\""},
      {"import of a name",
       {{"main.tf", "import {\n to=terraform.x\n id=\"x\"\n}\n"}},
       "error main.tf:2:5 `terraform.x`: Invalid import address expression: \"to\" must be the address of a resource"},
      {"moved name",
       {{"main.tf", "moved {\n from=local.x\n to=a_b.c\n}\n"}},
       "error main.tf:2:7 `local.x`: Invalid address: from must be the address of a resource or module"},
      {"moved resource", {{"main.tf", "moved {\n from=resource.a_b.c\n to=a_b.d\n}\n"}}, ""},
      {"removed name", {{"main.tf", "removed {\n from=local.x\n lifecycle {\n destroy=true\n}\n}\n"}}, ""},
      {"language",
       {{"main.tf", "language {}\n"}},
       "error main.tf:1:1 `language`: Unsupported block type: a configuration file has no blocks of type \"language\""},
      {"moved eph", {{"main.tf", "moved {\n from=ephemeral.a_b.c\n to=ephemeral.a_b.d\n}\n"}}, ""},
      {"over missing eph", {{"main.tf", ""}, {"override.tf", "ephemeral \"a_b\" \"c\" {}\n"}}, ""},
      {"over removed", {{"main.tf", ""}, {"override.tf", "removed {\n from=a_b.c\n}\n"}}, ""},
  };
  check_rows(rows, ClientKind::terraform);
}

BOOST_AUTO_TEST_SUITE_END()
