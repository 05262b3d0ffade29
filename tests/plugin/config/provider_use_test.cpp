#include "plugin/config/provider_requirement.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/requirement_texts.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(provider_use)

BOOST_AUTO_TEST_CASE(references) {
  const RequirementRow rows[] = {
      {"ref str",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provider=\"z\"\n}\n"}},
       "registry.opentofu.org/hashicorp/z z resource a_b.c main.tf:1:1 `resource \"a_b\" \"c\"`",
       ""},
      {"ref strdot",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provider=\"z.y\"\n}\n"}},
       "registry.opentofu.org/hashicorp/z z resource a_b.c main.tf:1:1 `resource \"a_b\" \"c\"`",
       ""},
      {"ref alias",
       {{"main.tf", "provider \"z\" {\n alias=\"y\"\n}\nresource \"a_b\" \"c\" {\n provider=z.y\n}\n"}},
       "registry.opentofu.org/hashicorp/z z block main.tf:1:1 `provider \"z\"`",
       ""},
      {"ref key",
       {{"main.tf",
         "provider \"z\" {\n alias=\"y\"\n for_each={a=1}\n}\nresource \"a_b\" \"c\" {\n provider=z.y[\"a\"]\n}\n"}},
       "registry.opentofu.org/hashicorp/z z block main.tf:1:1 `provider \"z\"`",
       ""},
      {"ref keyvar",
       {{"main.tf",
         "variable \"k\" {\n default=\"a\"\n}\nprovider \"z\" {\n alias=\"y\"\n for_each={a=1}\n}\nresource \"a_b\" "
         "\"c\" {\n provider=z.y[var.k]\n}\n"}},
       "registry.opentofu.org/hashicorp/z z block main.tf:4:1 `provider \"z\"`",
       ""},
      {"ref key noalias",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provider=z[\"y\"]\n}\n"}},
       "registry.opentofu.org/hashicorp/z z resource a_b.c main.tf:1:1 `resource \"a_b\" \"c\"`",
       ""},
      {"ref long",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provider=z.y.x\n}\n"}},
       "registry.opentofu.org/hashicorp/z z resource a_b.c main.tf:1:1 `resource \"a_b\" \"c\"`",
       ""},
      {"ref call",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provider=z()\n}\n"}},
       "",
       "error main.tf:2:11 `z()`: Invalid provider configuration reference: the provider argument requires a "
       "provider's local name, optionally followed by a period and an alias"},
      {"ref null",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provider=null\n}\n"}},
       "registry.opentofu.org/hashicorp/null null resource a_b.c main.tf:1:1 `resource \"a_b\" \"c\"`",
       ""},
      {"ref under",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provider=x_y\n}\n"}},
       "",
       "error main.tf:1:1 `resource \"a_b\" \"c\"`: invalid provider type \"x_y\" in source \"x_y\": must contain only "
       "letters, digits, and dashes, and may not use leading or trailing dashes"},
      {"ref num",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provider=1\n}\n"}},
       "",
       "error main.tf:2:11 `1`: Invalid provider configuration reference: the provider argument requires a provider's "
       "local name, optionally followed by a period and an alias"},
      {"ref parens",
       {{"main.tf", "resource \"a_b\" \"c\" {\n provider=(z)\n}\n"}},
       "",
       "error main.tf:2:11 `(z)`: Invalid provider configuration reference: the provider argument requires a "
       "provider's local name, optionally followed by a period and an alias"},
      {"j res",
       {{"main.tf.json",
         "{\"resource\":{\"a_b\":{\"c\":{\"provider\":\"z.y\"}}},\"provider\":{\"z\":{\"alias\":\"y\"}}}"}},
       "registry.opentofu.org/hashicorp/z z block main.tf.json:1:62 `{`",
       ""},
  };
  check_requirements(rows);
}

BOOST_AUTO_TEST_CASE(implied_names) {
  const RequirementRow rows[] = {
      {"impl upper",
       {{"main.tf", "resource \"A_b\" \"c\" {}\n"}},
       "registry.opentofu.org/hashicorp/a a resource A_b.c main.tf:1:1 `resource \"A_b\" \"c\"`",
       ""},
      {"impl single",
       {{"main.tf", "resource \"abc\" \"c\" {}\n"}},
       "registry.opentofu.org/hashicorp/abc abc resource abc.c main.tf:1:1 `resource \"abc\" \"c\"`",
       ""},
      {"impl dash",
       {{"main.tf", "resource \"a-b_c\" \"c\" {}\n"}},
       "registry.opentofu.org/hashicorp/a-b a-b resource a-b_c.c main.tf:1:1 `resource \"a-b_c\" \"c\"`",
       ""},
      {"impl leading", {{"main.tf", "resource \"_b\" \"c\" {}\n"}}, "", ""},
      {"impl dashes",
       {{"main.tf", "resource \"a--b_x\" \"c\" {}\n"}},
       "",
       "error main.tf:1:1 `resource \"a--b_x\" \"c\"`: invalid provider type \"a--b\" in source \"a--b\": cannot use "
       "multiple consecutive dashes"},
      {"data dup",
       {{"main.tf", "data \"a_b\" \"c\" {}\ndata \"a_b\" \"c\" {}\n"}},
       "registry.opentofu.org/hashicorp/a a data data.a_b.c main.tf:1:1 `data \"a_b\" \"c\"`",
       ""},
      {"j ephemeral",
       {{"main.tf.json", "{\"ephemeral\":{\"a_b\":{\"c\":{}}}}"}},
       "registry.opentofu.org/hashicorp/a a ephemeral ephemeral.a_b.c main.tf.json:1:26 `{`",
       ""},
      {"check dup",
       {{"main.tf",
         "check \"k\" {\n assert {\n condition=var.x\n error_message=\"x\"\n}\n}\ncheck \"k\" {\n assert {\n "
         "condition=var.x\n error_message=\"x\"\n}\n}\nvariable \"x\" {\n default=1\n}\n"}},
       "",
       ""},
      {"j check",
       {{"main.tf.json",
         "{\"check\":{\"k\":{\"data\":{\"a_b\":{\"c\":{}}},\"assert\":{\"condition\":\"${data.a_b.c.x}\",\"error_"
         "message\":\"x\"}}}}"}},
       "registry.opentofu.org/hashicorp/a a data data.a_b.c main.tf.json:1:35 `{`",
       ""},
      {"an override of the second resource of a type",
       {{"main.tf", "resource \"a_b\" \"c\" {}\nresource \"a_b\" \"d\" {}\n"},
        {"override.tf", "resource \"a_b\" \"d\" {\n provider=z\n}\n"}},
       "registry.opentofu.org/hashicorp/a a resource a_b.c main.tf:1:1 `resource \"a_b\" \"c\"`\n"
       "registry.opentofu.org/hashicorp/z z resource a_b.d main.tf:2:1 `resource \"a_b\" \"d\"`",
       ""},
      {"the second resource of a type has a provider",
       {{"main.tf",
         "resource \"a_b\" \"c\" {\n x=1\n y {}\n}\nresource \"a_b\" \"d\" {\n x=1\n provider=z\n y {}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a resource a_b.c main.tf:1:1 `resource \"a_b\" \"c\"`\n"
       "registry.opentofu.org/hashicorp/z z resource a_b.d main.tf:5:1 `resource \"a_b\" \"d\"`",
       ""},
      {"over res provider",
       {{"main.tf", "resource \"a_b\" \"c\" {}\n"}, {"override.tf", "resource \"a_b\" \"c\" {\n provider=z\n}\n"}},
       "registry.opentofu.org/hashicorp/z z resource a_b.c main.tf:1:1 `resource \"a_b\" \"c\"`",
       ""},
      {"over data check",
       {{"main.tf",
         "check \"k\" {\n data \"a_b\" \"c\" {}\n assert {\n condition=data.a_b.c.x\n error_message=\"x\"\n}\n}\n"},
        {"override.tf", "data \"a_b\" \"c\" {\n provider=z\n}\n"}},
       "registry.opentofu.org/hashicorp/z z data data.a_b.c main.tf:2:2 `data \"a_b\" \"c\"`",
       ""},
  };
  check_requirements(rows);
}

BOOST_AUTO_TEST_CASE(imports) {
  const RequirementRow rows[] = {
      {"import ok",
       {{"main.tf", "import {\n to=a_b.c\n id=\"x\"\n}\nresource \"a_b\" \"c\" {}\n"}},
       "registry.opentofu.org/hashicorp/a a resource a_b.c main.tf:5:1 `resource \"a_b\" \"c\"`",
       ""},
      {"import data",
       {{"main.tf", "import {\n to=data.a_b.c\n id=\"x\"\n}\n"}},
       "registry.opentofu.org/hashicorp/a a import data.a_b.c main.tf:1:1 `import`",
       ""},
      {"import dyn",
       {{"main.tf",
         "import {\n for_each={a=1}\n to=a_b.c[each.key]\n id=\"x\"\n}\nresource \"a_b\" \"c\" {\n "
         "for_each={a=1}\n}\n"}},
       "registry.opentofu.org/hashicorp/a a resource a_b.c main.tf:6:1 `resource \"a_b\" \"c\"`",
       ""},
      {"import inmod",
       {{"main.tf", "import {\n to=module.m.q_b.c\n id=\"x\"\n}\nmodule \"m\" {\n source=\"./m\"\n}\n"}},
       "registry.opentofu.org/hashicorp/q q import module.m.q_b.c main.tf:1:1 `import`",
       ""},
      {"import inmod prov",
       {{"main.tf", "import {\n to=module.m.q_b.c\n id=\"x\"\n provider=z\n}\nmodule \"m\" {\n source=\"./m\"\n}\n"}},
       "registry.opentofu.org/hashicorp/z z import module.m.q_b.c main.tf:1:1 `import`",
       ""},
      {"import prov",
       {{"main.tf", "import {\n to=a_b.c\n id=\"x\"\n provider=z\n}\n"}},
       "registry.opentofu.org/hashicorp/z z import a_b.c main.tf:1:1 `import`",
       ""},
      {"import prov mismatch",
       {{"main.tf", "import {\n to=a_b.c\n id=\"x\"\n provider=z\n}\nresource \"a_b\" \"c\" {\n provider=y\n}\n"}},
       "registry.opentofu.org/hashicorp/y y resource a_b.c main.tf:6:1 `resource \"a_b\" \"c\"`\n"
       "registry.opentofu.org/hashicorp/z z import a_b.c main.tf:1:1 `import`",
       ""},
      {"import prov missing",
       {{"main.tf", "import {\n to=a_b.c\n id=\"x\"\n provider=z\n}\nresource \"a_b\" \"c\" {}\n"}},
       "registry.opentofu.org/hashicorp/a a resource a_b.c main.tf:6:1 `resource \"a_b\" \"c\"`\n"
       "registry.opentofu.org/hashicorp/z z import a_b.c main.tf:1:1 `import`",
       ""},
      {"import expr", {{"main.tf", "import {\n to=foo()\n id=\"x\"\n}\n"}}, "", ""},
      {"j import",
       {{"main.tf.json", "{\"import\":[{\"to\":\"a_b.c\",\"id\":\"x\"}],\"resource\":{\"a_b\":{\"c\":{}}}}"}},
       "registry.opentofu.org/hashicorp/a a resource a_b.c main.tf.json:1:60 `{`",
       ""},
      {"j import dyn",
       {{"main.tf.json",
         "{\"import\":[{\"to\":\"a_b.c[each.key]\",\"id\":\"x\",\"for_each\":{\"a\":1}}],\"resource\":{\"a_b\":{\"c\":{"
         "\"for_each\":{\"a\":1}}}}}"}},
       "registry.opentofu.org/hashicorp/a a resource a_b.c main.tf.json:1:89 `{`",
       ""},
  };
  check_requirements(rows);
}

// Actions are blocks of Terraform 1.14. OpenTofu does not have them.
BOOST_AUTO_TEST_CASE(actions) {
  const RequirementRow rows[] = {
      {"the type implies the provider",
       {{"main.tf", "action \"a_b\" \"c\" {\n config {\n x=1\n}\n}\n"}},
       "registry.terraform.io/hashicorp/a a action action.a_b.c main.tf:1:1 `action \"a_b\" \"c\"`",
       ""},
      {"a provider argument",
       {{"main.tf", "action \"a_b\" \"c\" {\n provider=z.y\n}\n"}},
       "registry.terraform.io/hashicorp/z z action action.a_b.c main.tf:1:1 `action \"a_b\" \"c\"`",
       ""},
      {"an override",
       {{"main.tf", "action \"a_b\" \"c\" {}\n"}, {"override.tf", "action \"a_b\" \"c\" {\n provider=z\n}\n"}},
       "registry.terraform.io/hashicorp/z z action action.a_b.c main.tf:1:1 `action \"a_b\" \"c\"`",
       ""},
      {"JSON",
       {{"main.tf.json", R"({"action": {"a_b": {"c": {"provider": "z"}}}})"}},
       "registry.terraform.io/hashicorp/z z action action.a_b.c main.tf.json:1:26 `{`",
       ""},
  };
  check_requirements(rows, ClientKind::terraform);
  const RequirementRow others[] = {{"in OpenTofu", {{"main.tf", "action \"a_b\" \"c\" {}\n"}}, "", ""}};
  check_requirements(others);
}

BOOST_AUTO_TEST_SUITE_END()
