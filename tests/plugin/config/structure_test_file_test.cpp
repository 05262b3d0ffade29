#include <boost/test/unit_test.hpp>

#include "plugin/config/config_schema.h"
#include "tests/plugin/config/config_texts.h"

using namespace modlock;
using namespace modlock::test;

namespace {

struct Row {
  const char* name;
  std::string_view text;
  std::string_view diagnostics;
};

template <std::size_t kCount>
void check(const Row (&rows)[kCount], ClientKind tool = ClientKind::opentofu) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto files = read_texts({{"a.tftest.hcl", std::string(row.text)}}, tool, ConfigKind::test);
      BOOST_TEST_REQUIRE(files.size() == 1U);
      BOOST_TEST(describe(check_structure(files, tool), files) == row.diagnostics);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(structure_test_file)

BOOST_AUTO_TEST_CASE(runs) {
  const Row rows[] = {
      {"all of it",
       "variables {\n x=1\n}\nprovider \"aws\" {\n alias=\"w\"\n}\nrun \"x\" {\n command=plan\n providers={ aws=aws.w "
       "}\n"
       " expect_failures=[var.x]\n variables {\n y=2\n}\n plan_options {\n mode=refresh-only\n target=[a_b.c]\n}\n"
       " assert {\n condition=var.x == 1\n error_message=\"no\"\n}\n}\n",
       ""},
      {"name", "run \"a.b\" {}\n",
       "error a.tftest.hcl:1:5 `\"a.b\"`: Invalid run block name: \"a.b\" must start with a letter or underscore and "
       "may "
       "contain only letters, digits, underscores and dashes"},
      {"two modules", "run \"x\" {\n module {\n source=\"./a\"\n}\n module {\n source=\"./b\"\n}\n}\n",
       "error a.tftest.hcl:5:2 `module`: Duplicate module block: a run block can have only one such block"},
      {"variables of a run twice", "run \"x\" {\n variables {}\n variables {}\n}\n",
       "error a.tftest.hcl:3:2 `variables`: Duplicate variables block: a run block can have only one such block"},
      {"plan_options twice", "run \"x\" {\n plan_options {}\n plan_options {}\n}\n",
       "error a.tftest.hcl:3:2 `plan_options`: Duplicate plan_options block: a run block can have only one such block"},
      {"variables twice", "variables {}\nvariables {}\n",
       "error a.tftest.hcl:2:1 `variables`: Duplicate variables block: a test file can have only one such block"},
      {"command", "run \"x\" {\n command=destroy\n}\n",
       "error a.tftest.hcl:2:10 `destroy`: Invalid \"command\" keyword: expected apply or plan"},
      {"command in quotes", "run \"x\" {\n command=\"plan\"\n}\n",
       "error a.tftest.hcl:2:10 `\"plan\"`: Invalid \"command\" keyword: expected apply or plan"},
      {"mode", "run \"x\" {\n plan_options {\n mode=destroy\n}\n}\n",
       "error a.tftest.hcl:3:7 `destroy`: Invalid \"mode\" keyword: expected normal or refresh-only"},
      {"refresh", "run \"x\" {\n plan_options {\n refresh=var.x\n}\n}\n",
       "error a.tftest.hcl:3:10 `var.x`: Unsuitable value: refresh must be a bool that is written out, found an "
       "expression"},
      {"incompatible", "run \"x\" {\n plan_options {\n mode=refresh-only\n refresh=false\n}\n}\n",
       "error a.tftest.hcl:4:2 `refresh=false`: Incompatible plan options: \"refresh\" cannot be false in the mode "
       "refresh-only"},
      {"references", "run \"x\" {\n expect_failures=var.x\n plan_options {\n replace=[f()]\n}\n}\n",
       "error a.tftest.hcl:2:18 `var.x`: Invalid expression: expect_failures needs a list of references\n"
       "error a.tftest.hcl:4:11 `f()`: Invalid expression: replace needs a list of references"},
      {"providers", "run \"x\" {\n providers=1\n}\n",
       "error a.tftest.hcl:2:12 `1`: Invalid expression: providers needs an object of provider references"},
      {"a condition of nothing", "run \"x\" {\n assert {\n condition=true\n error_message=\"no\"\n}\n}\n",
       "error a.tftest.hcl:3:12 `true`: Invalid assert expression: the condition must refer to at least one object "
       "from "
       "elsewhere in the configuration"},
  };
  check(rows);
}

BOOST_AUTO_TEST_CASE(overrides_and_mocks) {
  const Row rows[] = {
      {"all of it",
       "override_resource {\n target=module.m.a_b.c\n values={ x=1 }\n}\noverride_module {\n target=module.m\n"
       " outputs={}\n}\nmock_provider \"aws\" {\n mock_data \"x\" {\n defaults={}\n}\n mock_resource \"x\" {}\n}\n"
       "mock_provider \"aws\" {\n alias=\"w\"\n for_each={}\n}\n",
       ""},
      {"a module for a resource", "override_data {\n target=module.m\n}\n",
       "error a.tftest.hcl:2:9 `module.m`: Invalid target: override_data needs the address of a resource without keys"},
      {"a resource for a module", "run \"x\" {\n override_module {\n target=a_b.c\n}\n}\n",
       "error a.tftest.hcl:3:9 `a_b.c`: Invalid target: override_module needs the address of a module without keys"},
      {"keys", "override_resource {\n target=a_b.c[0]\n}\n",
       "error a.tftest.hcl:2:9 `a_b.c[0]`: Invalid target: override_resource needs the address of a resource without "
       "keys"},
      {"values that are none", "override_resource {\n target=a_b.c\n values=[]\n}\n",
       "error a.tftest.hcl:3:9 `[]`: Object expected: values must be an object, found tuple"},
      {"values that are computed", "override_resource {\n target=a_b.c\n values={ x=var.x }\n}\n",
       "error a.tftest.hcl:3:13 `var.x`: variables not allowed: a value written out was expected, found var.x"},
      {"mocked twice", "mock_provider \"a\" {}\nmock_provider \"a\" {}\n",
       "error a.tftest.hcl:2:1 `mock_provider \"a\"`: Duplicate mock_provider block: a is mocked already"},
      {"a resource mocked twice", "mock_provider \"a\" {\n mock_data \"x\" {}\n mock_data \"x\" {}\n}\n",
       "error a.tftest.hcl:3:2 `mock_data \"x\"`: Duplicate mock_data block: x is mocked already"},
      {"for_each without an alias", "mock_provider \"a\" {\n for_each={}\n}\n",
       "error a.tftest.hcl:2:11 `{}`: Alias required when using \"for_each\": it is allowed only in provider blocks "
       "with "
       "an alias"},
  };
  check(rows);
}

BOOST_AUTO_TEST_SUITE_END()
