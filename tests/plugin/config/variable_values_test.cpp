#include "plugin/config/variable.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "plugin/eval/evaluate.h"
#include "tests/plugin/config/scope_setup.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(variable_values_reader)

namespace {

struct Outcome {
  Result<std::shared_ptr<const VariableValues>> values;
  Diagnostics diagnostics;
};

Outcome read(const VariableInputs& inputs, const FileTexts& files) {
  Documents documents;
  for (const auto& [name, text] : files) {
    documents.emplace((fs::path("/r") / name).lexically_normal(), text);
  }
  Outcome outcome;
  outcome.values = read_variable_values("/r", inputs, documents, {"/r", "/common"}, outcome.diagnostics);
  return outcome;
}

// "value from origin" of the variable x.
std::string winner(const VariableValues& values) {
  const VariableValues::VariableInput* given = values.find("x");
  if (given == nullptr) {
    return "none";
  }
  return fmt::format("{} from {}",
                     given->expression == nullptr
                         ? given->text
                         : show(eval::constant_value(*given->expression, given->json, given->origin)),
                     given->origin);
}

}  // namespace

BOOST_AUTO_TEST_CASE(precedence) {
  struct Row {
    const char* name;
    VariableInputs inputs;
    FileTexts files;
    std::string_view winner;
  };
  const Row rows[] = {
      {"nothing", {}, {}, "none"},
      {"environment", {.environment = {{"x", "env"}}}, {}, "env from TF_VAR_x"},
      {"terraform.tfvars over the environment",
       {.environment = {{"x", "env"}}},
       {{"terraform.tfvars", "x = 1\n"}},
       "1 from terraform.tfvars"},
      {"its JSON form over it",
       {},
       {{"terraform.tfvars", "x = 1\n"}, {"terraform.tfvars.json", R"({"x": 2})"}},
       "2 from terraform.tfvars.json"},
      {"auto files over that",
       {},
       {{"terraform.tfvars.json", R"({"x": 2})"}, {"a.auto.tfvars", "x = 3\n"}},
       "3 from a.auto.tfvars"},
      {"auto files by name, both kinds",
       {},
       {{"b.auto.tfvars.json", R"({"x": 4})"}, {"a.auto.tfvars", "x = 3\n"}, {"B.auto.tfvars", "x = 5\n"}},
       "4 from b.auto.tfvars.json"},
      {"named files over auto files, in their order",
       {.arguments = {{std::nullopt, "z.tfvars"}, {std::nullopt, "a.tfvars"}}},
       {{"a.auto.tfvars", "x = 3\n"}, {"a.tfvars", "x = 6\n"}, {"z.tfvars", "x = 7\n"}},
       "6 from a.tfvars"},
      {"a file after -var",
       {.arguments = {{"x", "cli"}, {std::nullopt, "a.tfvars"}}},
       {{"a.tfvars", "x = 6\n"}},
       "6 from a.tfvars"},
      {"-var after a file",
       {.arguments = {{std::nullopt, "a.tfvars"}, {"x", "cli"}}},
       {{"a.tfvars", "x = 6\n"}},
       "cli from -var"},
      {"a file that does not have it leaves it",
       {.environment = {{"x", "env"}}},
       {{"terraform.tfvars", "y = 1\n"}},
       "env from TF_VAR_x"},
      {"other files are not read", {}, {{"other.tfvars", "x = 1\n"}, {"sub/terraform.tfvars", "x = 1\n"}}, "none"},
      {"a named file elsewhere in the bounds",
       {.arguments = {{std::nullopt, "../common/a.tfvars"}}},
       {{"../common/a.tfvars", "x = 8\n"}},
       "8 from ../common/a.tfvars"},
      {"JSON by suffix",
       {.arguments = {{std::nullopt, "a.json"}}},
       {{"a.json", R"({"x": "${y}", "//": "no value"})"}},
       "\"${y}\" from a.json"},
      {"JSON by its look", {.arguments = {{std::nullopt, "vars"}}}, {{"vars", "\n {\"x\": 9}"}}, "9 from vars"},
      {"no JSON by its look in .tfvars",
       {.arguments = {{std::nullopt, "a.tfvars"}}},
       {{"a.tfvars", "x = 10\n"}},
       "10 from a.tfvars"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Outcome outcome = read(row.inputs, row.files);
      BOOST_TEST(show(outcome.diagnostics) == "");
      BOOST_TEST_REQUIRE(outcome.values.has_value());
      BOOST_TEST(winner(**outcome.values) == row.winner);
    }
  }
}

BOOST_AUTO_TEST_CASE(wrong_files) {
  const Outcome blocks = read({}, {{"terraform.tfvars", "x = 1\nvariable \"x\" {}\nlocals {}\n"}});
  BOOST_TEST(show(blocks.diagnostics) == "");
  BOOST_TEST(winner(**blocks.values) == "1 from terraform.tfvars");
  const Outcome twice = read({}, {{"terraform.tfvars", "x = 1\nx = 2\n"}});
  BOOST_TEST(has_errors(twice.diagnostics));
  BOOST_TEST(winner(**twice.values) == "none");
}

BOOST_AUTO_TEST_CASE(what_may_be_a_secret_is_not_quoted) {
  const FileTexts rows[] = {
      {{"terraform.tfvars", "x = token s3cr3t\n"}},
      {{"terraform.tfvars", "x s3cr3t\n"}},
      {{"terraform.tfvars", "s3cr3t x\n"}},
      {{"terraform.tfvars", "s3cr3t\n"}},
      {{"terraform.tfvars", "x = \"${\"}\" \"s3cr3t\"\n"}},
      {{"terraform.tfvars", "x = \"s3cr3t\n"}},
      {{"terraform.tfvars", "x = {a s3cr3t}\n"}},
      {{"terraform.tfvars.json", "{\"x\": s3cr3t}"}},
      {{"terraform.tfvars.json", "s3cr3t"}},
      {{"terraform.tfvars.json", "{s3cr3t: 1}"}},
  };
  for (const FileTexts& files : rows) {
    BOOST_TEST_CONTEXT(files.begin()->second) {
      const std::string shown = show(read({}, files).diagnostics);
      BOOST_TEST(shown.starts_with("CONFIG_PARSE terraform.tfvars"), shown);
      BOOST_TEST(shown.find("s3cr3t") == std::string::npos, shown);
    }
  }
  BOOST_TEST(show(read({}, {{"terraform.tfvars", "x = token s3cr3t\n"}}).diagnostics) ==
             "CONFIG_PARSE terraform.tfvars:1:11: expected the end of the line after the value of \"…\"\n"
             "  hint: text needs double quotes around it");
}

BOOST_AUTO_TEST_CASE(a_variable_named_variable_may_have_a_value) {
  const Outcome outcome = read({}, {{"terraform.tfvars.json", R"({"variable": {"a": 1}, "x": 1})"}});
  BOOST_TEST(show(outcome.diagnostics) == "");
  BOOST_TEST(winner(**outcome.values) == "1 from terraform.tfvars.json");
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_read) {
  const Outcome missing = read({.arguments = {{std::nullopt, "a.tfvars"}}}, {});
  BOOST_TEST(show(missing.values.error()) ==
             "NOT_FOUND -: the variables file \"a.tfvars\" does not exist\n"
             "  hint: name it relative to the root, or absolute");
  const Outcome outside =
      read({.arguments = {{std::nullopt, "../secret/a.tfvars"}}}, {{"../secret/a.tfvars", "x = 1\n"}});
  BOOST_TEST(show(outside.values.error()) ==
             "PATH_OUTSIDE_ROOT -: the path \"/secret/a.tfvars\" is outside \"/r\" or \"/common\"\n"
             "  hint: move the file below the root, or allow its directory with --workspace-root");
}

BOOST_AUTO_TEST_CASE(on_the_disk) {
  const TemporaryDirectory directory;
  directory.write("root/b.auto.tfvars", "x = \"disk\"\n");
  directory.write("root/a.auto.tfvars", "x = \"first\"\n");
  directory.write("out.tfvars", "x = 1\n");
  Diagnostics diagnostics;
  const fs::path root = directory / "root";
  const auto values = read_variable_values(root, {}, {}, {root}, diagnostics);
  BOOST_TEST_REQUIRE(values.has_value());
  BOOST_TEST(winner(**values) == "\"disk\" from b.auto.tfvars");
  fs::create_symlink("../out.tfvars", root / "terraform.tfvars");
  const auto outside = read_variable_values(root, {}, {}, {root}, diagnostics);
  BOOST_TEST_REQUIRE(!outside.has_value());
  BOOST_TEST(to_string(outside.error().code) == "PATH_OUTSIDE_ROOT");
}

BOOST_AUTO_TEST_CASE(undeclared) {
  const auto values = variable_values(
      {.environment = {{"unknown", "d"}}, .arguments = {{"regoin", "a"}, {"region", "b"}, {"other", "c"}}},
      {{"terraform.tfvars", "unheard = 1\n"}});
  const auto module = parse_module({{"a.tf", "variable \"region\" {}\n"}});
  const Diagnostics diagnostics = values->undeclared(module->variables);
  BOOST_TEST(show(diagnostics) ==
             "CONFIG_PARSE -: a value was given for variable \"other\", which the root module does not declare\n"
             "CONFIG_PARSE -: a value was given for variable \"regoin\", which the root module does not declare\n"
             "  hint: did you mean \"region\"?");
  BOOST_TEST(!has_errors(diagnostics));
}

BOOST_AUTO_TEST_SUITE_END()
