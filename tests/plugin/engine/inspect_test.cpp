// Engine::inspect(), which asks no source.

#include "tests/plugin/engine/engine_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

BOOST_FIXTURE_TEST_SUITE(engine_inspect, EngineFixture)

BOOST_AUTO_TEST_CASE(calls_and_what_is_locked) {
  lock();
  const auto inspected = succeed(&Engine::inspect, of_root<messages::LockPlanParams>().root);
  BOOST_TEST_REQUIRE(inspected.modules.size() == 1U);
  const messages::InspectedModule& module = inspected.modules[0];
  BOOST_TEST(module.key == "vpc");
  BOOST_TEST(module.source.value() == kVpc);
  BOOST_TEST(module.source_kind.value() == "git");
  BOOST_TEST(module.constraint.value() == "~> 1.0");
  BOOST_TEST(module.locked_version.value() == "1.0.0");
  BOOST_TEST(lines_of(inspected.diagnostics) == "");
  BOOST_TEST(run->stats().requests == 0U);
}

BOOST_AUTO_TEST_CASE(the_kind_of_a_source_is_its_backend) {
  struct Row {
    const char* name;
    const char* source;
    const char* kind;
    const char* settings = "";
  };
  const Row rows[] = {
      {"built in", "s3::https://s3.amazonaws.com/b/net.zip", "s3"},
      {"an external backend of its own", "s3::https://s3.amazonaws.com/b/net.zip", "s3",
       "backend \"s3\" {\n  command = [\"/bin/s3\"]\n}\n"},
      {"a scheme", "artifactory://host/net", "artifactory",
       "backend \"artifactory\" {\n  command = [\"/bin/artifactory\"]\n}\n"},
      {"a scheme without a backend", "artifactory://host/net", "artifactory"},
      {"a getter before a scheme", "svn::https://host/net?rev=7", "svn"},
      {"an archive", "https://host/net.zip", "archive"},
      {"a directory", "/srv/net", "directory"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      directory.write("user.hcl", row.settings);
      options.user_settings = directory / "user.hcl";
      open();
      write(kSettings, "");
      write("main.tf", fmt::format("module \"net\" {{\n  source = \"{}\"\n}}\n", row.source));
      const auto inspected = succeed(&Engine::inspect, of_root<messages::LockPlanParams>().root);
      BOOST_TEST(inspected.modules.at(0).source_kind.value() == row.kind);
    }
  }
}

BOOST_AUTO_TEST_CASE(variable_arguments_count_in_their_order) {
  write("main.tf", "variable \"at\" {}\nmodule \"m\" {\n  source = \"./${var.at}\"\n}\n");
  fs::remove(directory / "root/.tofu-modlock.hcl");
  for (const char* name : {"a", "b", "c"}) {
    fs::create_directories(directory.path() / "root" / name);
  }
  write("b.tfvars", "at = \"b\"\n");
  const messages::VariableArgument file{.file = "b.tfvars", .name = {}, .value = {}};
  const messages::VariableArgument value{.file = {}, .name = "at", .value = "a"};
  struct Row {
    const char* name;
    std::vector<messages::VariableArgument> arguments;
    const char* source;
  };
  const Row rows[] = {
      {"a file wins over a value before it", {value, file}, "./b"},
      {"a value wins over a file before it", {file, value}, "./a"},
      {"over variables", {file}, "./b"},
      {"none", {}, "./c"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      messages::RootParams params = of_root<messages::LockPlanParams>().root;
      params.variables["at"] = "c";
      params.variable_arguments = row.arguments;
      BOOST_TEST(succeed(&Engine::inspect, params).modules.at(0).source.value() == row.source);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_a_diagnostic_or_an_error) {
  struct Row {
    const char* name;
    const char* file;
    const char* text;
    const char* outcome;
    const char* diagnostics;
  };
  const Row rows[] = {
      {"a file that does not parse", "main.tf", "module \"vpc\" {\n", "ok",
       "error CONFIG_PARSE: the \"{\" of block \"module\" is never closed: expected \"}\" before the end of the "
       "file\n"},
      {"a call without source", "main.tf", "module \"vpc\" {\n}\n", "ok",
       "error CONFIG_PARSE: module \"vpc\" lacks the argument \"source\"\n"},
      {"settings that do not parse", kSettings, "surprise = 1\n",
       "CONFIG_PARSE: unknown setting \"surprise\" in .tofu-modlock.hcl:1", ""},
      {"a lock that does not parse", kLock, "module \"vpc\" {\n",
       "LOCK_PARSE: the \"{\" of block \"module\" is never closed: expected \"}\" before the end of the file", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(directory / "root");
      make_root("root");
      write(row.file, row.text);
      const auto inspected = call(&Engine::inspect, of_root<messages::LockPlanParams>().root);
      BOOST_TEST(outcome(inspected) == row.outcome);
      BOOST_TEST((inspected ? lines_of(inspected->diagnostics) : "") == row.diagnostics);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
