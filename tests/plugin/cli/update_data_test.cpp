#include "plugin/cli/update_data.h"

#include <boost/test/unit_test.hpp>

#include "protocol/json.h"
#include "tests/support/temporary_directory.h"

namespace modlock::cli {
namespace {

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
  const InspectedRoot root{"/repo/live", *parse_json(R"({
    "files": [{"path": "main.tf"}, {"path": "../net/main.tf"}],
    "modules": [
      {"key": "vpc", "source": "registry.opentofu.org/modules/acme/vpc/aws", "constraint": "~> 1.0", "path": "main.tf"},
      {"key": "tag", "source": "git::https://github.com/acme/net.git?ref=v1.0.0", "path": "main.tf"},
      {"key": "net.tag", "source": "git::https://github.com/acme/net.git?ref=v1.0.0", "path": "../net/main.tf"},
      {"key": "new", "source": "git::https://github.com/acme/net.git?ref=v2.0.0", "path": "main.tf"}],
    "providers": [{"address": "registry.opentofu.org/acme/cloud",
                   "constraints": [{"text": ">= 1.0, < 2.0", "module": "", "path": "main.tf"}]}]})")};
  const Row rows[] = {
      {"a constraint that is still the old one",
       {.dep_name = "acme/vpc/aws",
        .package_file = "live/main.tf",
        .current_value = "~> 1.0",
        .new_value = "~> 2.0",
        .new_version = "2.1.0"},
       R"([{"newConstraint":"~> 2.0","newVersion":"2.1.0","subject":"module.vpc"}])"},
      {"a constraint that is already the new one",
       {.dep_name = "acme/vpc/aws",
        .package_file = "live/main.tf",
        .current_value = "~> 0.9",
        .new_value = "~> 1.0",
        .new_version = "1.2.0"},
       R"([{"newVersion":"1.2.0","subject":"module.vpc"}])"},
      {"the lock alone",
       {.dep_name = "acme/vpc/aws",
        .package_file = "live/main.tf",
        .current_value = "~> 1.0",
        .new_value = "~> 1.0",
        .new_version = "1.2.0"},
       R"([{"newVersion":"1.2.0","subject":"module.vpc"}])"},
      {"a tag in the file that is meant",
       {.dep_name = "github.com/acme/net",
        .package_file = "net/main.tf",
        .current_value = "v1.0.0",
        .new_value = "v1.1.0"},
       R"([{"newVersion":"1.1.0","subject":"module.net.tag"}])"},
      {"a tag that stands there already leaves nothing to ask for",
       {.dep_name = "github.com/acme/net",
        .package_file = "live/main.tf",
        .current_value = "v1.5.0",
        .new_value = "v2.0.0"},
       "[]"},
      {"a tag of a monorepo",
       {.dep_name = "github.com/acme/net",
        .package_file = "live/main.tf",
        .current_value = "v2.0.0",
        .new_value = "net/v3.0.0",
        .new_version = "net/v3.0.0"},
       R"([{"newVersion":"3.0.0","subject":"module.new"}])"},
      {"a provider, blanks aside",
       {.dep_name = "cloud",
        .package_name = "acme/cloud",
        .dep_type = "required_provider",
        .package_file = "live/main.tf",
        .current_value = ">=1.0, <2.0",
        .new_value = ">= 1.0, < 3.0"},
       R"([{"newConstraint":">= 1.0, < 3.0","subject":"provider.registry.opentofu.org/acme/cloud"}])"},
      {"a module only", {.dep_name = "acme/cloud", .dep_type = "module", .new_value = "2.0"}, "[]"},
      {"a subject",
       {.subject = "module.vpc", .new_version = "1.2.0"},
       R"([{"newVersion":"1.2.0","subject":"module.vpc"}])"},
      {"another file", {.dep_name = "acme/vpc/aws", .package_file = "other/main.tf", .new_value = "~> 2.0"}, "[]"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(write_json(updates_for(root, {row.entry}, "/repo")) == row.updates);
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
      {"no name", R"([{"newValue": "1"}])", 0,
       "decode: expected a depName, a packageName or a subject at data.json.updates[0].depName"},
      {"nothing new", R"([{"depName": "a"}])", 0,
       "decode: expected a newValue or a newVersion at data.json.updates[0].newValue"},
      {"no objects", "[1]", 0, "decode: expected an object at data.json.updates[0], found a number"},
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
        BOOST_TEST(entries.error().message == row.message);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::cli
