#include "plugin/config/config_schema.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/structure_rows.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(structure_override)

BOOST_AUTO_TEST_CASE(overrides) {
  const StructureRow rows[] = {
      {"over missing res",
       {{"main.tf", ""}, {"override.tf", "resource \"a_b\" \"c\" {}\n"}},
       "error override.tf:1:1 `resource \"a_b\" \"c\"`: Missing resource to override: no primary file declares the "
       "resource a_b.c"},
      {"over missing data",
       {{"main.tf", ""}, {"override.tf", "data \"a_b\" \"c\" {}\n"}},
       "error override.tf:1:1 `data \"a_b\" \"c\"`: Missing data resource to override: no primary file declares the "
       "data resource a_b.c"},
      {"over missing eph",
       {{"main.tf", ""}, {"override.tf", "ephemeral \"a_b\" \"c\" {}\n"}},
       "error override.tf:1:1 `ephemeral \"a_b\" \"c\"`: Missing ephemeral resource to override: no primary file "
       "declares the ephemeral resource a_b.c"},
      {"over missing out",
       {{"main.tf", ""}, {"override.tf", "output \"a\" {}\n"}},
       "error override.tf:1:1 `output \"a\"`: Missing output to override: no primary file declares the output \"a\""},
      {"over missing prov", {{"main.tf", ""}, {"override.tf", "provider \"a\" {}\n"}}, ""},
      {"over missing prov alias",
       {{"main.tf", ""}, {"override.tf", "provider \"a\" {\n alias=\"x\"\n}\n"}},
       "error override.tf:1:1 `provider \"a\"`: Missing provider configuration to override: no primary file declares "
       "the provider configuration \"a\" with the alias \"x\""},
      {"over out ok",
       {{"main.tf", "output \"a\" {\n value=1\n}\n"}, {"override.tf", "output \"a\" {\n sensitive=true\n}\n"}},
       ""},
      {"over out pre",
       {{"main.tf", "output \"a\" {\n value=1\n}\n"}, {"override.tf", "output \"a\" {\n precondition {}\n}\n"}},
       "error override.tf:2:2 `precondition`: Can't override precondition blocks: override files cannot override "
       "precondition blocks"},
      {"over check",
       {{"main.tf",
         "check \"x\" {\n assert {\n condition=var.x\n error_message=\"x\"\n}\n}\nvariable \"x\" {\n "
         "default=true\n}\n"},
        {"override.tf", "check \"x\" {}\n"}},
       "error override.tf:1:1 `check \"x\"`: Can't override check blocks: override files cannot override check blocks"},
      {"over moved",
       {{"main.tf", ""}, {"override.tf", "moved {\n from=a_b.c\n to=a_b.d\n}\n"}},
       "error override.tf:1:1 `moved`: Cannot override moved blocks: moved blocks can appear only in normal files, not "
       "in override files"},
      {"over removed",
       {{"main.tf", ""}, {"override.tf", "removed {\n from=a_b.c\n}\n"}},
       "error override.tf:1:1 `removed`: Cannot override removed blocks: removed blocks can appear only in normal "
       "files, not in override files"},
      {"over import",
       {{"main.tf", ""}, {"override.tf", "import {\n to=a_b.c\n id=\"x\"\n}\n"}},
       "error override.tf:1:1 `import`: Cannot override import blocks: import blocks can appear only in normal files, "
       "not in override files"},
      {"over language", {{"main.tf", ""}, {"override.tf", "language {}\n"}}, ""},
      {"over backend",
       {{"main.tf", "terraform {\n backend \"s3\" {}\n}\n"},
        {"override.tf", "terraform {\n backend \"local\" {}\n}\n"}},
       ""},
      {"over backend2",
       {{"main.tf", ""}, {"override.tf", "terraform {\n backend \"local\" {}\n backend \"local\" {}\n}\n"}},
       "error override.tf:3:2 `backend \"local\"`: Duplicate backend configuration: each override file may have only "
       "one backend block"},
      {"over varval",
       {{"main.tf", "variable \"x\" {\n default=true\n}\n"},
        {"override.tf", "variable \"x\" {\n validation {\n condition=var.x\n error_message=\"x\"\n}\n}\n"}},
       "error override.tf:2:2 `validation`: Can't override validation blocks: override files cannot override "
       "validation blocks"},
      {"mod nosource over",
       {{"main.tf", "module \"m\" {}\n"}, {"override.tf", "module \"m\" {\n source=\"./m\"\n}\n"}},
       "error main.tf:1:1 `module \"m\"`: Missing required argument: a module block needs the argument \"source\", "
       "also where it is overridden"},
      {"mod depends over",
       {{"main.tf", "module \"m\" {\n source=\"./m\"\n}\nresource \"a_b\" \"c\" {}\n"},
        {"override.tf", "module \"m\" {\n depends_on=[a_b.c]\n}\n"}},
       "error override.tf:2:14 `a_b.c`: Unsupported override: depends_on may not be overridden"},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_CASE(modules) {
  const StructureRow rows[] = {
      {"mod ok", {{"main.tf", "module \"m\" {\n source=\"./m\"\n}\n"}}, ""},
      {"mod nosource", {{"main.tf", "module \"m\" {}\n"}}, ""},
      {"mod cf",
       {{"main.tf", "module \"m\" {\n source=\"./m\"\n count=1\n for_each={}\n}\n"}},
       "error main.tf:4:2 `for_each`: Invalid combination of \"count\", \"for_each\": these meta-arguments are "
       "mutually exclusive"},
      {"mod lifecycle", {{"main.tf", "module \"m\" {\n source=\"./m\"\n lifecycle {\n enabled=true\n}\n}\n"}}, ""},
      {"mod lifecycle bad",
       {{"main.tf", "module \"m\" {\n source=\"./m\"\n lifecycle {\n foo=true\n}\n}\n"}},
       "error main.tf:4:2 `foo`: Unsupported argument: a lifecycle block has no argument \"foo\""},
      {"mod locals",
       {{"main.tf", "module \"m\" {\n source=\"./m\"\n locals {}\n}\n"}},
       "error main.tf:3:2 `locals`: Reserved block type name in a module block: \"locals\" is reserved for a future "
       "version of OpenTofu"},
      {"mod provider",
       {{"main.tf", "module \"m\" {\n source=\"./m\"\n provider \"x\" {}\n}\n"}},
       "error main.tf:3:2 `provider`: Reserved block type name in a module block: \"provider\" is reserved for a "
       "future version of OpenTofu"},
      {"mod provider nolabel",
       {{"main.tf", "module \"m\" {\n source=\"./m\"\n provider {}\n}\n"}},
       "error main.tf:3:2 `provider`: Missing type for provider: a provider block has 1 label (type), found none\n"
       "error main.tf:3:2 `provider`: Reserved block type name in a module block: \"provider\" is reserved for a "
       "future version of OpenTofu"},
      {"mod escape", {{"main.tf", "module \"m\" {\n source=\"./m\"\n _ {}\n}\n"}}, ""},
      {"mod providers",
       {{"main.tf",
         "provider \"a\" {\n alias=\"x\"\n y=1\n}\nmodule \"m\" {\n source=\"./m\"\n providers={ a = a.x }\n}\n"}},
       ""},
      {"mod providers dup",
       {{"main.tf",
         "provider \"a\" {\n alias=\"x\"\n y=1\n}\nmodule \"m\" {\n source=\"./m\"\n providers={ a = a.x, \"a\" = a.x "
         "}\n}\n"}},
       "warning main.tf:7:23 `\"a\"`: Quoted references are deprecated: a reference is expected without quotes\n"
       "error main.tf:7:29 `a.x`: Duplicate provider address: a provider configuration was already passed to a"},
      {"mod providers bad",
       {{"main.tf", "module \"m\" {\n source=\"./m\"\n providers=[]\n}\n"}},
       "error main.tf:3:12 `[]`: Invalid expression: providers needs an object of provider references"},
      {"mod providers str",
       {{"main.tf",
         "provider \"a\" {\n alias=\"x\"\n y=1\n}\nmodule \"m\" {\n source=\"./m\"\n providers={ a = \"a.x\" }\n}\n"}},
       "warning main.tf:7:18 `\"a.x\"`: Quoted references are deprecated: a reference is expected without quotes"},
      {"mod depends",
       {{"main.tf", "module \"m\" {\n source=\"./m\"\n depends_on=[a_b.c]\n}\nresource \"a_b\" \"c\" {}\n"}},
       ""},
      {"j module providers",
       {{"main.tf.json",
         "{\"module\":{\"m\":{\"source\":\"./"
         "m\",\"providers\":{\"a\":\"a.x\"}}},\"provider\":{\"a\":{\"alias\":\"x\",\"y\":1}}}"}},
       ""},
  };
  check_rows(rows);
}

BOOST_AUTO_TEST_SUITE_END()
