#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/check_error.h"
#include "tests/plugin/config/evaluated_module.h"

using namespace modlock;
using namespace modlock::test;

namespace {

EvaluatedModule load_tests(const TemporaryDirectory& directory, std::string_view test_directory = "tests") {
  const auto root = read_module(directory.path(), {}, ClientKind::opentofu).value();
  const auto parsed = read_test_files(*root, {}, ClientKind::opentofu, test_directory).value();
  return evaluate_module(directory.path(), parsed, {});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_files)

BOOST_AUTO_TEST_CASE(keys) {
  const TemporaryDirectory directory;
  const std::string run = "run \"setup\" {\n  command = plan\n  module {\n    source = \"./testing/setup\"\n  }\n}\n";
  directory.write("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n");
  directory.write("main.tftest.hcl",
                  run + "run \"other\" {\n  assert {\n    condition = var.x\n    error_message = \"no\"\n  }\n}\n");
  directory.write("x.tofutest.hcl", run);
  directory.write("y.tftest.hcl", "nonsense {");
  directory.write("y.tofutest.hcl",
                  "run \"r\" {\n  module {\n    source = \"a/${"
                  "\"b\"}/c\"\n    version = true ? \"1.0.0\" : null\n  }\n}\n");
  directory.write("tests/net.tftest.hcl", run);
  directory.write("tests/deep/no.tftest.hcl", run);
  const EvaluatedModule config = load_tests(directory);
  BOOST_TEST(config.diagnostics.empty());
  std::vector<std::string> found;
  for (const ModuleCall& call : config.calls) {
    found.push_back(call.name + " " + call.source.text + (call.version ? " " + call.version->text : ""));
  }
  const std::vector<std::string> expected = {"test.main.setup ./testing/setup", "test.tests.net.setup ./testing/setup",
                                             "test.x.tofutest.hcl.setup ./testing/setup",
                                             "test.y.tofutest.hcl.r a/b/c 1.0.0"};
  BOOST_TEST(found == expected, boost::test_tools::per_element());
  std::vector<std::string> files;
  for (const ConfigFile& file : config.parsed->file_hashes) {
    BOOST_TEST((file.role == ConfigFile::Role::test));
    files.push_back(file.path);
  }
  const std::vector<std::string> read = {"main.tftest.hcl", "tests/net.tftest.hcl", "x.tofutest.hcl", "y.tofutest.hcl"};
  BOOST_TEST(files == read, boost::test_tools::per_element());
  BOOST_TEST(to_string(config.calls[0].location) == "main.tftest.hcl:3:3");
}

BOOST_AUTO_TEST_CASE(provider_blocks_of_terraform) {
  const TemporaryDirectory directory;
  directory.write("main.tf", "");
  directory.write("a.tftest.hcl",
                  "provider \"a\" {}\nprovider \"a\" {\n  version = \"x\"\n}\nmock_provider \"a\" {}\n");
  const auto root = read_module(directory.path(), {}, ClientKind::terraform).value();
  const auto tests = read_test_files(*root, {}, ClientKind::terraform).value();
  BOOST_TEST(tests->providers.empty());
  BOOST_TEST(tests->diagnostics.empty());
}

BOOST_AUTO_TEST_CASE(another_test_directory) {
  const TemporaryDirectory directory;
  directory.write("checks/a.tftest.hcl", "run \"r\" {\n  module {\n    source = \"./m\"\n  }\n}\n");
  BOOST_TEST(load_tests(directory).calls.empty());
  BOOST_TEST(load_tests(directory, "checks").calls.at(0).name == "test.checks.a.r");
}

BOOST_AUTO_TEST_CASE(errors) {
  struct Row {
    const char* name;
    std::string_view file;
    std::string_view text;
    ExpectedError error;
  };
  const Row rows[] = {
      {"dynamic source",
       "a.tftest.hcl",
       "run \"r\" {\n  module {\n    source = var.x\n  }\n}\n",
       {Code::config_parse, "variables not allowed: expected a literal value, found var.x", "a.tftest.hcl:3:14"}},
      {"no source",
       "a.tftest.hcl",
       "run \"r\" {\n  module {\n  }\n}\n",
       {Code::config_parse, "the module of run \"r\" lacks the argument \"source\"", "a.tftest.hcl:2:3"}},
      {"no name",
       "a.tftest.hcl",
       "run {\n  module {\n    source = \"./m\"\n  }\n}\n",
       {Code::config_parse, "the name of a run must be an identifier", "a.tftest.hcl:1:1"}},
      {"twice",
       "a.tftest.hcl",
       "run \"r\" {\n  module {\n    source = \"./m\"\n  }\n}\nrun \"r\" {\n  module {\n    source = \"./m\"\n  }\n}\n",
       {Code::config_parse, "run \"r\" is written twice", "a.tftest.hcl:6:1"}},
      {"JSON",
       "tests/a.tftest.json",
       "{\"run\": {\"r\": {\"module\": {}}}}",
       {Code::config_parse, "the module of run \"r\" lacks the argument \"source\"", "tests/a.tftest.json:1:26"}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      directory.write(row.file, row.text);
      const EvaluatedModule config = load_tests(directory);
      BOOST_TEST_REQUIRE(config.diagnostics.size() == 1U);
      check_error(config.diagnostics[0].what, row.error);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
