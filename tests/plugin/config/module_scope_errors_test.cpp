#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "plugin/config/module_scope.h"
#include "tests/plugin/config/scope_setup.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr std::string_view kDynamicHint =
    "\n  hint: use only variables, local values, path.* and terraform.workspace here";

}  // namespace

BOOST_AUTO_TEST_SUITE(module_scope_errors)

BOOST_AUTO_TEST_CASE(what_has_no_static_value) {
  struct Row {
    const char* name;
    std::string_view source;
    std::string error;  // without the place main.tf:2:12, where each source stands
  };
  const auto dynamic = [](std::string_view what) {
    return fmt::format(
        "CONFIG_NON_STATIC: Dynamic value in static context: {} is not known before plan, and "
        "module.m.source needs it{}",
        what, kDynamicHint);
  };
  const Row rows[] = {
      {"resource", "aws_vpc.main.id", dynamic("aws_vpc.main")},
      {"data", "data.aws_vpc.main.id", dynamic("data.aws_vpc")},
      {"count", "count.index", dynamic("count.index")},
      {"each", "each.key", dynamic("each.key")},
      {"self", "self.id", dynamic("self.id")},
      {"module output", "module.vpc.id",
       fmt::format("CONFIG_NON_STATIC: Module output not supported in static context: module.vpc is not known before "
                   "plan, and module.m.source needs it{}",
                   kDynamicHint)},
      {"terraform.applying", "terraform.applying",
       "CONFIG_NON_STATIC: terraform.applying has a value only in plan and apply, and module.m.source needs it"},
      {"terraform.env", "terraform.env",
       "CONFIG_PARSE: the \"terraform\" object does not have an attribute named \"env\"\n"
       "  hint: the only one is terraform.workspace, the name of the selected workspace"},
      {"tofu.version", "tofu.version",
       "CONFIG_PARSE: the \"tofu\" object does not have an attribute named \"version\"\n"
       "  hint: the only one is tofu.workspace, the name of the selected workspace"},
      {"path.modul", "path.modul",
       "CONFIG_PARSE: the \"path\" object does not have an attribute named \"modul\"\n"
       "  hint: did you mean \"module\"?"},
      {"undeclared variable", "var.regoin",
       "CONFIG_PARSE: undefined variable var.regoin: no variable of that name is declared in this module\n"
       "  hint: did you mean \"region\"?"},
      {"undeclared local value", "local.nothing_like_it",
       "CONFIG_PARSE: undefined local local.nothing_like_it: no local value of that name is defined in this module"},
      {"var alone", "var", "CONFIG_PARSE: the \"var\" object cannot be accessed directly, only its attributes can"},
      {"data alone", "data",
       "CONFIG_PARSE: the \"data\" object must be followed by two attribute names, a type and a name"},
      {"a bare word", "foo",
       "CONFIG_PARSE: a reference to a resource type must be followed by the name of a resource, found \"foo\"\n"
       "  hint: put text in quotes; write var.name for a variable and local.name for a local value"},
      {"a reserved word", "lazy.x", "CONFIG_PARSE: the symbol name \"lazy\" is reserved for a future OpenTofu version"},
      {"no value", "var.required",
       "CONFIG_NON_STATIC: variable \"required\" has no value and no default\n"
       "  hint: set it in terraform.tfvars, with --variable required=… or with TF_VAR_required"},
      {"in a branch that is not taken", "true ? \"x\" : aws_vpc.main.id", dynamic("aws_vpc.main")},
      {"inside try", "try(aws_vpc.main.id, \"x\")", dynamic("aws_vpc.main")},
  };
  const ScopeContext environment = test_surroundings();
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TestModule root = root_module(
          environment, {{"main.tf", fmt::format("module \"m\" {{\n  source = {}\n}}\n", row.source)},
                        {"names.tf", "variable \"region\" {\n  default = \"x\"\n}\nvariable \"required\" {}\n"}});
      auto value = root.scope->evaluate_argument(root.call("m").find("source"), "module.m.source");
      BOOST_TEST_REQUIRE(!value.has_value());
      Error error = std::move(value.error());
      error.location.reset();
      error.related.clear();
      std::string text = show(error);
      text.erase(text.find(" -:"), 2);
      BOOST_TEST(text == row.error);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_chain_of_references) {
  const ScopeContext environment = test_surroundings();
  const TestModule root =
      root_module(environment, {{"main.tf",
                                 "locals {\n  a = \"${local.b}/x\"\n  b = data.d.e.f\n}\n"
                                 "module \"m\" {\n  source = local.a\n}\n"
                                 "module \"child\" {\n  source = \"./child\"\n  v = local.a\n}\n"}});
  const std::string cause =
      "CONFIG_NON_STATIC main.tf:3:7: Dynamic value in static context: data.d is not known before plan, and local.b "
      "needs it\n"
      "  main.tf:2:10: referenced by local.a\n";
  BOOST_TEST(root.source() == cause + "  main.tf:6:12: referenced by module.m.source" + std::string(kDynamicHint));
  BOOST_TEST(root.source() == cause + "  main.tf:6:12: referenced by module.m.source" + std::string(kDynamicHint));
  const TestModule child = child_module(
      environment, root, "child",
      {{"main.tf", "variable \"v\" {}\nlocals {\n  w = var.v\n}\nmodule \"m\" {\n  source = local.w\n}\n"}});
  BOOST_TEST(child.source() == cause +
                                   "  main.tf:10:7: referenced by module.child:var.v\n"
                                   "  child/main.tf:3:7: referenced by local.w\n"
                                   "  child/main.tf:6:12: referenced by module.m.source" +
                                   std::string(kDynamicHint));
}

BOOST_AUTO_TEST_CASE(without_a_title_the_argument_is_named) {
  const ScopeContext environment = test_surroundings();
  const TestModule root = root_module(environment, {{"main.tf", "module \"m\" {\n  source = self.x\n}\n"}});
  const auto value = root.scope->evaluate_argument(root.call("m").find("source"));
  BOOST_TEST(show(value) ==
             "CONFIG_NON_STATIC main.tf:2:12: Dynamic value in static context: self.x is not known before plan, and "
             "the argument \"source\" needs it" +
                 std::string(kDynamicHint));
}

BOOST_AUTO_TEST_CASE(cycles) {
  const ScopeContext environment = test_surroundings();
  const std::string hint = "\n  hint: give one of them a value that does not depend on the others";
  const TestModule self =
      root_module(environment, {{"main.tf", "locals {\n  a = local.a\n}\nmodule \"m\" {\n  source = local.a\n}\n"}});
  BOOST_TEST(self.source() ==
             "CONFIG_NON_STATIC main.tf:2:7: Circular reference: local.a -> local.a\n"
             "  main.tf:5:12: referenced by module.m.source" +
                 hint);
  const TestModule longer =
      root_module(environment, {{"main.tf",
                                 "locals {\n  a = local.b\n  b = \"${local.c}\"\n  c = [local.a]\n  d = local.b\n}\n"
                                 "module \"m\" {\n  source = local.d\n}\n"}});
  BOOST_TEST(longer.source() ==
             "CONFIG_NON_STATIC main.tf:2:7: Circular reference: local.b -> local.c -> local.a -> local.b\n"
             "  main.tf:4:8: referenced by local.c\n"
             "  main.tf:3:10: referenced by local.b\n"
             "  main.tf:5:7: referenced by local.d\n"
             "  main.tf:8:12: referenced by module.m.source" +
                 hint);
}

BOOST_AUTO_TEST_CASE(values_that_do_not_fit) {
  struct Row {
    const char* name;
    std::string_view variable;
    VariableInputs inputs;
    FileTexts files;
    std::string_view error;
  };
  const Row rows[] = {
      {"of a file",
       "type = number",
       {},
       {{"terraform.tfvars", "\nx = \"a\"\n"}},
       "CONFIG_PARSE terraform.tfvars:2:5: the given value is not suitable for var.x: a number is required\n"
       "  main.tf:1:1: the variable is declared here\n  main.tf:5:12: referenced by module.m.source"},
      {"of text",
       "type = number",
       {.arguments = {{"x", "a"}}},
       {},
       "CONFIG_PARSE main.tf:1:1: the given value is not suitable for var.x: a number is required\n"
       "  main.tf:1:1: the variable is declared here\n  main.tf:5:12: referenced by module.m.source"},
      {"null",
       "nullable = false",
       {},
       {{"terraform.tfvars", "x = null\n"}},
       "CONFIG_PARSE terraform.tfvars:1:5: the given value is not suitable for var.x: required variable may not be set "
       "to null\n"
       "  main.tf:1:1: the variable is declared here\n  main.tf:5:12: referenced by module.m.source"},
      {"a name in a file",
       "",
       {},
       {{"terraform.tfvars", "x = local.a\n"}},
       "CONFIG_PARSE terraform.tfvars:1:5: variables not allowed: expected a literal value, found local.a\n"
       "  main.tf:5:12: referenced by module.m.source\n  hint: write a literal value"},
      {"the same of what must not be seen",
       "sensitive = true",
       {},
       {{"terraform.tfvars", "x = hunter2.a\n"}},
       "CONFIG_PARSE terraform.tfvars:1:5: the value given for variable \"x\" is not valid\n"
       "  main.tf:5:12: referenced by module.m.source\n  hint: write a literal value"},
      {"a name in text",
       "type = any",
       {.environment = {{"x", "[foo]"}}},
       {},
       "CONFIG_PARSE main.tf:1:1: the value that TF_VAR_x gives for variable \"x\" is not a valid expression: "
       "variables "
       "not allowed: expected a literal value, found foo\n"
       "  main.tf:5:12: referenced by module.m.source\n"
       "  hint: write it in the syntax of the configuration, for example [\"a\", \"b\"]"},
      {"text that must not be seen",
       "type = any\n  ephemeral = true",
       {.arguments = {{"x", "hunter2 hunter3"}}},
       {},
       "CONFIG_PARSE main.tf:1:1: the value that -var gives for variable \"x\" is not a valid expression\n"
       "  main.tf:6:12: referenced by module.m.source\n"
       "  hint: write it in the syntax of the configuration, for example [\"a\", \"b\"]"},
  };
  const ScopeContext environment = test_surroundings();
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TestModule root = root_module(
          environment,
          {{"main.tf",
            fmt::format("variable \"x\" {{\n  {}\n}}\nmodule \"m\" {{\n  source = var.x\n}}\n", row.variable)}},
          row.inputs, row.files);
      BOOST_TEST(root.source() == row.error);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_a_caller_gives_wrong) {
  const ScopeContext environment = test_surroundings();
  const TestModule root = root_module(
      environment, {{"main.tf", "module \"child\" {\n  source = \"./child\"\n  a = \"x\"\n  c = null\n}\n"}});
  const TestModule child = child_module(
      environment, root, "child",
      {{"vars.tf",
        "variable \"a\" {\n  type = number\n}\nvariable \"b\" {}\nvariable \"c\" {\n  nullable = false\n}\n"},
       {"main.tf",
        "module \"m\" {\n  source = var.a\n}\nmodule \"n\" {\n  source = var.b\n}\nmodule \"o\" {\n  source = "
        "var.c\n}\n"}});
  BOOST_TEST(child.source("m") ==
             "CONFIG_PARSE main.tf:3:7: the given value is not suitable for var.a: a number is required\n"
             "  child/vars.tf:1:1: the variable is declared here\n"
             "  child/main.tf:2:12: referenced by module.m.source");
  BOOST_TEST(child.source("n") ==
             "CONFIG_PARSE main.tf:1:1: module \"child\" lacks the argument \"b\", a variable without default\n"
             "  child/vars.tf:4:1: the variable is declared here\n"
             "  child/main.tf:5:12: referenced by module.n.source\n"
             "  hint: add b = … to the call");
  BOOST_TEST(child.source("o") ==
             "CONFIG_PARSE main.tf:4:7: the given value is not suitable for var.c: required variable may not be set to "
             "null\n"
             "  child/vars.tf:5:1: the variable is declared here\n"
             "  child/main.tf:8:12: referenced by module.o.source");
}

// What is wrong with a variable is an error where it is needed.
BOOST_AUTO_TEST_CASE(broken_variables) {
  const ScopeContext environment = test_surroundings();
  const TestModule root = root_module(
      environment, {{"main.tf", "module \"a\" {\n  source = var.a\n}\nmodule \"b\" {\n  source = var.b\n}\n"},
                    {"vars.tf",
                     "variable \"a\" {\n  default = var.c\n}\nvariable \"b\" {\n  type = strin\n  default = "
                     "\"./b\"\n}\nvariable \"c\" {\n  nullable = local.x\n}\n"}});
  BOOST_TEST(root.source("a") ==
             "CONFIG_PARSE vars.tf:2:13: variables not allowed: expected a literal value, found var.c\n"
             "  main.tf:2:12: referenced by module.a.source\n"
             "  hint: write a literal value");
  BOOST_TEST(root.source("b") ==
             "CONFIG_PARSE vars.tf:5:10: invalid type specification: the keyword \"strin\" is not a valid type "
             "specification\n"
             "  main.tf:5:12: referenced by module.b.source\n"
             "  hint: write a type such as string, list(string) or object({ name = string })");
}

BOOST_AUTO_TEST_CASE(long_chains) {
  const auto chain = [](std::size_t length, std::string_view end) {
    std::string text = "module \"m\" {\n  source = local.n1\n}\nlocals {\n";
    for (std::size_t i = 1; i < length; ++i) {
      text += fmt::format("  n{} = {}local.n{}{}\n", i, std::string(80, '('), i + 1, std::string(80, ')'));
    }
    return text + fmt::format("  n{} = {}\n}}\n", length, end);
  };
  const ScopeContext environment = test_surroundings();
  const std::size_t longest = ModuleScope::kMaxChain - 1;
  BOOST_TEST(root_module(environment, {{"main.tf", chain(longest, "\"x\"")}}).source() == "\"x\"");
  const TestModule cut = root_module(environment, {{"main.tf", chain(longest, "self.x")}});
  const auto error = cut.scope->evaluate_argument(cut.call("m").find("source")).error();
  BOOST_TEST(error.related.size() == ModuleScope::kMaxRelated);
  BOOST_TEST(error.related.front().message == fmt::format("referenced by local.n{}", longest - 1));
  const TestModule too_long = root_module(environment, {{"main.tf", chain(10'000, "\"x\"")}});
  const auto limit = too_long.scope->evaluate_argument(too_long.call("m").find("source")).error();
  BOOST_TEST(to_string(limit.code) == "LIMIT_EXCEEDED");
  BOOST_TEST(limit.message ==
             fmt::format("local.n{0} is at the end of a chain of more than {0} references", ModuleScope::kMaxChain));
}

BOOST_AUTO_TEST_CASE(values_shared_by_many_are_computed_once) {
  std::string text = "module \"m\" {\n  source = local.n1\n}\nlocals {\n";
  for (int i = 1; i < 100; ++i) {
    text += fmt::format("  n{} = local.n{} == local.n{}\n", i, i + 1, i + 1);
  }
  const ScopeContext environment = test_surroundings();
  BOOST_TEST(root_module(environment, {{"main.tf", text + "  n100 = 1\n}\n"}}).source() == "true");
  const std::string error = root_module(environment, {{"main.tf", text + "  n100 = self.x\n}\n"}}).source();
  BOOST_TEST(std::count(error.begin(), error.end(), '\n') == static_cast<int>(ModuleScope::kMaxRelated) + 1);
}

BOOST_AUTO_TEST_SUITE_END()
