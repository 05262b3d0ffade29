#include "plugin/workspace/affected_roots.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

std::string text_of(std::optional<bool> answer) {
  return !answer ? "unknown" : *answer ? "yes" : "no";
}

BOOST_AUTO_TEST_SUITE(local_modules)

BOOST_AUTO_TEST_CASE(what_a_root_reads) {
  struct Row {
    const char* name;
    const char* main;  // of the root
    const char* file;  // that changed
    const char* answer;
  };
  const Row rows[] = {
      {"its own file", "", "root/main.tf", "yes"},
      {"another file of its directory", "", "root/README.md", "yes"},
      {"a file of another root", "", "other/main.tf", "no"},
      {"below it, but not called", "", "root/modules/net/main.tf", "no"},
      {"a local module", "module \"net\" {\n  source = \"./modules/net\"\n}\n", "root/modules/net/main.tf", "yes"},
      {"what a local module calls", "module \"net\" {\n  source = \"./modules/net\"\n}\n", "common/main.tf", "yes"},
      {"a package", "module \"net\" {\n  source = \"acme/net/aws\"\n}\n", "root/modules/net/main.tf", "no"},
      {"settings of the root", "", "root/.tofu-modlock.hcl", "yes"},
      {"settings above it", "", ".tofu-modlock.hcl", "yes"},
      {"settings beside it", "", "other/.tofu-modlock.hcl", "no"},
      {"a computed source", "variable \"at\" {}\nmodule \"net\" {\n  source = \"./${var.at}\"\n}\n", "other/main.tf",
       "unknown"},
      {"its own file in spite of that", "module \"net\" {\n  source = \"./${var.at}\"\n}\n", "root/main.tf", "yes"},
      {"a file that does not parse", "module \"net\" {\n", "other/main.tf", "unknown"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const test::TemporaryDirectory directory;
      directory.write("root/main.tf", row.main);
      directory.write("root/modules/net/main.tf", "module \"common\" {\n  source = \"../../../common\"\n}\n");
      directory.write("common/main.tf", "");
      BOOST_TEST(text_of(reads_any(directory / "root", {directory / row.file}, Context{})) == row.answer);
    }
  }
}

BOOST_AUTO_TEST_CASE(calls_of_test_files_count) {
  const test::TemporaryDirectory directory;
  directory.write("root/main.tf", "");
  directory.write("root/setup/main.tf", "");
  const std::vector<fs::path> changed = {directory / "root/setup/main.tf"};
  BOOST_TEST(text_of(reads_any(directory / "root", changed, Context{})) == "no");
  directory.write("root/tests/a.tftest.hcl", "run \"setup\" {\n  module {\n    source = \"./setup\"\n  }\n}\n");
  BOOST_TEST(text_of(reads_any(directory / "root", changed, Context{})) == "yes");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
