#include "plugin/resolve/provider_passing.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

// One line for each diagnostic of the tree: "main.tf:1:1: message".
std::string walk(const Files& files, ClientKind tool) {
  const TemporaryDirectory directory;
  for (const auto& [name, text] : files) {
    directory.write(name, text);
  }
  WalkRequest request{.root = directory.path(), .bounds = {directory.path()}, .tool = tool};
  const auto tree = walk_modules(
      request, [](std::span<ModuleNode* const>) { return Result<void>(); }, Context{});
  if (!tree) {
    return tree.error().message;
  }
  std::string lines;
  for (const Diagnostic& diagnostic : tree->diagnostics) {
    lines += fmt::format("{}{}: {}", lines.empty() ? "" : "\n",
                         to_string(diagnostic.what.location.value_or(Location{})), diagnostic.what.message);
  }
  return lines;
}

struct Row {
  const char* name;
  Files files;
  std::string diagnostics;
};

template <std::size_t kCount>
void check(const Row (&rows)[kCount], ClientKind tool = ClientKind::opentofu) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(walk(row.files, tool) == row.diagnostics);
    }
  }
}

std::string require(const std::string& entry) {
  return "terraform {\n  required_providers {\n    " + entry + "\n  }\n}\n";
}

// A call of "./a" with further arguments.
std::string call(const std::string& arguments) {
  return "module \"m\" {\n  source = \"./a\"\n  " + arguments + "\n}\n";
}

const std::string kAlias = require("aws = { source = \"hashicorp/aws\", configuration_aliases = [aws.x] }");

}  // namespace

BOOST_AUTO_TEST_SUITE(provider_passing)

BOOST_AUTO_TEST_CASE(what_a_module_expects) {
  const Row rows[] = {
      {"an alias that is passed",
       {{"main.tf", "provider \"aws\" {}\n" + call("providers = { aws.x = aws }")}, {"a/main.tf", kAlias}},
       ""},
      {"an alias that is not passed",
       {{"main.tf", call("")}, {"a/main.tf", kAlias}},
       "main.tf:1:1: Missing required provider configuration: module \"m\" requires a configuration of hashicorp/aws "
       "with the local name \"aws.x\""},
      {"an alias that the module configures",
       {{"main.tf", call("")}, {"a/main.tf", kAlias + "provider \"aws\" {\n  alias  = \"x\"\n  region = \"r\"\n}\n"}},
       ""},
      {"an alias that the module has an empty block for",
       {{"main.tf", call("")}, {"a/main.tf", kAlias + "provider \"aws\" {\n  alias = \"x\"\n}\n"}},
       "main.tf:1:1: Missing required provider configuration: module \"m\" requires a configuration of hashicorp/aws "
       "with the local name \"aws.x\""},
      {"below a child",
       {{"main.tf", call("")}, {"a/main.tf", "module \"n\" {\n  source = \"../b\"\n}\n"}, {"b/main.tf", kAlias}},
       "a/main.tf:1:1: Missing required provider configuration: module \"n\" requires a configuration of hashicorp/aws "
       "with the local name \"aws.x\""},
      {"a root and the module of a run need nothing",
       {{"main.tf", kAlias},
        {"a/main.tf", kAlias},
        {"x.tftest.hcl", "run \"r\" {\n  module {\n    source = \"./a\"\n  }\n}\n"}},
       ""},
      {"nothing where something else is wrong",
       {{"main.tf", call("") + "output \"x\" {}\n"}, {"a/main.tf", kAlias}},
       "main.tf:5:1: Missing required argument: an output block needs the argument \"value\""},
  };
  check(rows);
  check(rows, ClientKind::terraform);
}

BOOST_AUTO_TEST_CASE(what_is_passed) {
  const std::string hashicorp = require("aws = { source = \"hashicorp/aws\" }");
  const std::string mycorp = require("aws = { source = \"mycorp/aws\" }");
  const Row rows[] = {
      {"a provider that nobody declares", {{"main.tf", call("providers = { aws = aws }")}, {"a/main.tf", ""}}, ""},
      {"another type",
       {{"main.tf", mycorp + call("providers = { aws = aws }")}, {"a/main.tf", hashicorp}},
       "main.tf:8:23: Provider type mismatch: aws is mycorp/aws here, and aws is hashicorp/aws in module \"m\""},
      {"another type under another name",
       {{"main.tf", mycorp + call("providers = { tls = aws }")}, {"a/main.tf", ""}},
       "main.tf:8:23: Provider type mismatch: aws is mycorp/aws here, and tls is hashicorp/tls in module \"m\""},
      {"a requirement of the name that the child uses counts",
       {{"main.tf", mycorp + call("providers = { aws = tls }")}, {"a/main.tf", mycorp}},
       ""},
      {"an alias that the child does not declare",
       {{"main.tf", mycorp + "provider \"aws\" {}\n" + call("providers = { aws.x = aws }")}, {"a/main.tf", mycorp}},
       "main.tf:9:17: Reference to undefined provider: module \"m\" declares no provider with the local name "
       "\"aws.x\""},
      {"a provider that the child configures",
       {{"main.tf", call("providers = { aws = aws }")}, {"a/main.tf", "provider \"aws\" {\n  region = \"r\"\n}\n"}},
       "main.tf:3:17: Cannot override provider configuration: module \"m\" configures aws itself, so none can be "
       "passed "
       "to it"},
      {"a provider that the child has an empty block for",
       {{"main.tf", call("providers = { aws = aws }")}, {"a/main.tf", "provider \"aws\" {}\n"}},
       ""},
  };
  check(rows);
}

BOOST_AUTO_TEST_CASE(repeated_calls) {
  const std::string own = "provider \"aws\" {\n  region = \"r\"\n}\n";
  const std::string_view message =
      "Module is incompatible with count, for_each, enabled and depends_on: {} contains provider configurations of its "
      "own";
  const auto at = [&](std::string_view place, std::string_view module) {
    return fmt::format("{}: {}", place, fmt::format(fmt::runtime(message), module));
  };
  const std::string counted = at("main.tf:3:11", "module.m");
  const std::string enabled = at("main.tf:4:15", "module.m");
  const std::string depends = at("main.tf:3:16", "module.m");
  const std::string below = at("main.tf:3:11", "module.m.n");
  const Row rows[] = {
      {"count", {{"main.tf", call("count = 1")}, {"a/main.tf", own}}, counted},
      {"enabled", {{"main.tf", call("lifecycle {\n    enabled = true\n  }")}, {"a/main.tf", own}}, enabled},
      {"depends_on", {{"main.tf", call("depends_on = [null_resource.x]")}, {"a/main.tf", own}}, depends},
      {"depends_on nothing", {{"main.tf", call("depends_on = []")}, {"a/main.tf", own}}, ""},
      {"an empty block", {{"main.tf", call("count = 1")}, {"a/main.tf", "provider \"aws\" {}\n"}}, ""},
      {"only a version",
       {{"main.tf", call("count = 1")}, {"a/main.tf", "provider \"aws\" {\n  version = \"1.0\"\n}\n"}},
       "a/main.tf:2:13: Version constraints inside provider configuration blocks are deprecated\n" + counted},
      {"an overridden block counts as empty",
       {{"main.tf", call("count = 1")}, {"a/main.tf", own}, {"a/override.tf", own}},
       ""},
      {"below a counted one",
       {{"main.tf", call("count = 1")}, {"a/main.tf", "module \"n\" {\n  source = \"../b\"\n}\n"}, {"b/main.tf", own}},
       below},
  };
  check(rows);
}

BOOST_AUTO_TEST_CASE(instances) {
  const std::string repeated = "provider \"aws\" {\n  alias    = \"x\"\n  for_each = {}\n  region   = each.key\n}\n";
  const Row rows[] = {
      {"with its key", {{"main.tf", repeated + call("providers = { aws = aws.x[\"a\"] }")}, {"a/main.tf", ""}}, ""},
      {"without its key",
       {{"main.tf", repeated + call("providers = { aws = aws.x }")}, {"a/main.tf", ""}},
       "main.tf:8:23: Invalid module provider configuration: aws.x has for_each, so an instance key is required"},
      {"a key of one without for_each",
       {{"main.tf", call("providers = { aws = aws.x[\"a\"] }")}, {"a/main.tf", ""}},
       "main.tf:3:29: Invalid module provider configuration: aws.x has an instance key, and no provider block of this "
       "module with that alias has for_each"},
      {"a resource without its key",
       {{"main.tf", repeated + "resource \"aws_x\" \"y\" {\n  provider = aws.x\n}\n"}},
       "main.tf:7:14: Invalid resource provider configuration: aws.x has for_each, so an instance key is required"},
      {"a key on the left",
       {{"main.tf", call("providers = { aws.x[\"a\"] = aws }")}, {"a/main.tf", kAlias}},
       "main.tf:3:23: Invalid module provider configuration: instance keys are not allowed on the left side of a "
       "provider assignment"},
  };
  check(rows);
}

BOOST_AUTO_TEST_CASE(imports_below_the_root) {
  const Row rows[] = {
      {"in a child",
       {{"main.tf", call("")}, {"a/main.tf", "import {\n  to = aws_x.y\n  id = \"1\"\n}\n"}},
       "a/main.tf:1:1: Invalid import configuration: import blocks are only allowed in the root module"},
      {"in the root", {{"main.tf", "import {\n  to = aws_x.y\n  id = \"1\"\n}\n"}}, ""},
  };
  check(rows);
}

BOOST_AUTO_TEST_SUITE_END()
