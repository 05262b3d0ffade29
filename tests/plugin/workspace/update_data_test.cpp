#include "plugin/workspace/affected_roots.h"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace modlock {
namespace {

// "module.vpc to 2.1.0 as ~> 2.0".
std::string list(const std::vector<messages::Update>& updates) {
  std::string text;
  for (const messages::Update& update : updates) {
    text += (text.empty() ? "" : ", ") + update.subject + (update.new_version ? " to " + *update.new_version : "") +
            (update.new_constraint ? " as " + *update.new_constraint : "");
  }
  return text;
}

BOOST_AUTO_TEST_SUITE(update_data)

BOOST_AUTO_TEST_CASE(names_of_sources) {
  struct Row {
    const char* name;
    const char* written;
    const char* source;
    bool is_same;
  };
  constexpr Row kRows[] = {
      {"a registry", "terraform-aws-modules/vpc/aws", "registry.opentofu.org/modules/terraform-aws-modules/vpc/aws",
       true},
      {"with its host", "app.example.com/acme/vpc/aws", "app.example.com/modules/acme/vpc/aws", true},
      {"another name space", "acme/vpc/aws", "registry.opentofu.org/modules/other-acme/vpc/aws", false},
      {"github", "github.com/acme/vpc", "git::https://github.com/acme/vpc.git//net?ref=v1.0.0", true},
      {"over ssh", "github.com/acme/vpc", "git::ssh://git@github.com/acme/vpc.git?ref=v1.0.0", true},
      {"its package alone", "acme/vpc", "git::https://github.com/acme/vpc?ref=v1.0.0", true},
      {"as ssh writes it", "git@example.com:acme/vpc", "git::ssh://git@example.com/acme/vpc.git", true},
      {"an OCI repository", "example.com/acme/vpc", "oci://example.com/acme/vpc?tag=1.0.0", true},
      {"part of a name", "pc", "git::https://github.com/acme/vpc.git", false},
      {"nothing", "", "git::https://github.com/acme/vpc.git", false},
      {"a provider", "hashicorp/aws", "registry.opentofu.org/hashicorp/aws", true},
      {"its type", "aws", "registry.opentofu.org/hashicorp/aws", true},
  };
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(names_source(row.written, row.source) == row.is_same);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_a_root_is_asked_for) {
  struct Row {
    const char* name;
    DataEntry entry;
    const char* updates;
  };
  const auto call = [](const char* key, const char* source, const char* path) {
    messages::InspectedModule module;
    module.key = key;
    module.source = source;
    module.location.path = path;
    return module;
  };
  InspectedRoot root{"/repo/live", {}};
  root.inspected.files = {{"main.tf", "primary", ""}, {"../net/main.tf", "primary", ""}};
  root.inspected.modules = {
      call("vpc", "registry.opentofu.org/modules/acme/vpc/aws", "main.tf"),
      call("tag", "git::https://github.com/acme/net.git?ref=v1.0.0", "main.tf"),
      call("net.tag", "git::https://github.com/acme/net.git?ref=v1.0.0", "../net/main.tf"),
      call("new", "git::https://github.com/acme/net.git?ref=v2.0.0", "main.tf"),
  };
  root.inspected.modules[0].constraint = "~> 1.0";
  messages::InspectedProvider cloud;
  cloud.address = "registry.opentofu.org/acme/cloud";
  cloud.constraints = {{">= 1.0, < 2.0", "", Location{"main.tf", {}}}};
  root.inspected.providers = {cloud};
  const Row rows[] = {
      {"a constraint that is still the old one",
       {.dep_name = "acme/vpc/aws",
        .package_file = "live/main.tf",
        .current_value = "~> 1.0",
        .new_value = "~> 2.0",
        .new_version = "2.1.0"},
       "module.vpc to 2.1.0 as ~> 2.0"},
      {"a constraint that is already the new one",
       {.dep_name = "acme/vpc/aws",
        .package_file = "live/main.tf",
        .current_value = "~> 0.9",
        .new_value = "~> 1.0",
        .new_version = "1.2.0"},
       "module.vpc to 1.2.0"},
      {"the lock alone",
       {.dep_name = "acme/vpc/aws",
        .package_file = "live/main.tf",
        .current_value = "~> 1.0",
        .new_value = "~> 1.0",
        .new_version = "1.2.0"},
       "module.vpc to 1.2.0"},
      {"a tag in the file that is meant",
       {.dep_name = "github.com/acme/net",
        .package_file = "net/main.tf",
        .current_value = "v1.0.0",
        .new_value = "v1.1.0"},
       "module.net.tag to 1.1.0"},
      {"a tag that stands there already leaves nothing to ask for",
       {.dep_name = "github.com/acme/net",
        .package_file = "live/main.tf",
        .current_value = "v1.5.0",
        .new_value = "v2.0.0"},
       ""},
      {"a tag of a monorepo",
       {.dep_name = "github.com/acme/net",
        .package_file = "live/main.tf",
        .current_value = "v2.0.0",
        .new_value = "net/v3.0.0",
        .new_version = "net/v3.0.0"},
       "module.new to 3.0.0"},
      {"a provider, blanks aside",
       {.dep_name = "cloud",
        .package_name = "acme/cloud",
        .dep_type = "required_provider",
        .package_file = "live/main.tf",
        .current_value = ">=1.0, <2.0",
        .new_value = ">= 1.0, < 3.0"},
       "provider.registry.opentofu.org/acme/cloud as >= 1.0, < 3.0"},
      {"a module only", {.dep_name = "acme/cloud", .dep_type = "module", .new_value = "2.0"}, ""},
      {"a subject", {.subject = "module.vpc", .new_version = "1.2.0"}, "module.vpc to 1.2.0"},
      {"another file", {.dep_name = "acme/vpc/aws", .package_file = "other/main.tf", .new_value = "~> 2.0"}, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(list(updates_for(root, {row.entry}, "/repo")) == row.updates);
    }
  }
}

BOOST_AUTO_TEST_CASE(data_files) {
  struct Row {
    const char* name;
    const char* text;
    std::size_t count;
    const char* message;  // null: it can be read
  };
  constexpr Row kRows[] = {
      {"a list", R"([{"depName": "a", "newValue": "1"}, {"subject": "module.a", "newVersion": "1"}])", 2, nullptr},
      {"below a name", R"({"upgrades": [{"depName": "a", "newValue": "1", "more": {}}]})", 1, nullptr},
      {"nothing", "[]", 0, nullptr},
      {"no name", R"([{"newValue": "1"}])", 0, ": expected a depName, a packageName or a subject at entry 1.depName"},
      {"nothing new", R"([{"depName": "a", "newValue": "1"}, {"depName": "a"}])", 0,
       ": expected a newValue or a newVersion at entry 2.newValue"},
      {"no objects", "[1]", 0, ": expected an object at entry 1, found a number"},
      {"a wrong type", R"({"upgrades": [{"depName": 1}]})", 0,
       ": expected a string at entry 1.depName, found a number"},
      {"an object without a list", "{}", 0, ": expected a list of updates"},
      {"no list below the name", R"({"updates": {}})", 0, ": expected a list of updates"},
      {"neither a list nor an object", "1", 0, ": expected a list of updates"},
  };
  const test::TemporaryDirectory directory;
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      test::write_text(directory / "data.json", row.text);
      const auto entries = read_update_data(directory / "data.json");
      BOOST_TEST(entries.has_value() == (row.message == nullptr));
      if (entries) {
        BOOST_TEST(entries->size() == row.count);
      } else {
        BOOST_TEST(entries.error().message == (directory / "data.json").string() + row.message);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
