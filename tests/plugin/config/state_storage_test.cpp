#include <boost/test/unit_test.hpp>

#include "plugin/config/state_providers.h"
#include "tests/plugin/config/config_texts.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(state_storage)

BOOST_AUTO_TEST_CASE(backends) {
  struct Row {
    const char* name;
    Texts files;
    std::string_view storage;
  };
  const std::string local = "terraform {\n  backend \"local\" {\n    path = \"a.json\"\n  }\n}\n";
  const Row rows[] = {
      {"none", {{"a.tf", "terraform {}\n"}}, "local - - written "},
      {"local", {{"a.tf", local}}, "local a.json - written a.tf:2:3"},
      {"workspace_dir",
       {{"a.tf", "terraform {\n  backend \"local\" {\n    workspace_dir = \"w\"\n    path = null\n  }\n}\n"}},
       "local - w written a.tf:2:3"},
      {"expression",
       {{"a.tf", "terraform {\n  backend \"local\" {\n    path = var.path\n  }\n}\n"}},
       "local - - computed a.tf:2:3"},
      {"other", {{"a.tf", "terraform {\n  backend \"s3\" {\n    path = \"x\"\n  }\n}\n"}}, "s3 - - written a.tf:2:3"},
      {"cloud", {{"a.tf", "terraform {\n  cloud {}\n}\n"}}, "cloud - - written a.tf:2:3"},
      {"override",
       {{"a.tf", "terraform {\n  backend \"s3\" {}\n}\n"}, {"override.tf", local}},
       "local a.json - written override.tf:2:3"},
      {"override replaces all of it",
       {{"a.tf", local}, {"override.tf", "terraform {\n  backend \"local\" {}\n}\n"}},
       "local - - written override.tf:2:3"},
      {"cloud overrides a backend",
       {{"a.tf", local}, {"x_override.tf", "terraform {\n  cloud {}\n}\n"}},
       "cloud - - written x_override.tf:2:3"},
      {"JSON",
       {{"a.tf.json", R"({"terraform":{"backend":{"local":{"path":"a.json"}}}})"}},
       "local a.json - written a.tf.json:1:34"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const StateStorage storage = read_state_storage(read_texts(row.files));
      BOOST_TEST(fmt::format("{} {} {} {} {}", storage.backend, storage.path.value_or("-"),
                             storage.workspace_dir.value_or("-"), storage.written_out ? "written" : "computed",
                             to_string(storage.location)) == row.storage);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
