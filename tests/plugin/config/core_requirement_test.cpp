#include "plugin/config/core_requirement.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "plugin/hcl/json_syntax.h"

using namespace modlock;

BOOST_AUTO_TEST_SUITE(core_requirement_test)

namespace {

ConfigText config_text(const std::string& name, const std::string& text) {
  ConfigText file{.name = name, .path = "m/" + name, .text = text};
  file.json = name.ends_with(".json");
  file.role = name.find("override.") != std::string::npos ? ConfigFile::Role::override_file : ConfigFile::Role::primary;
  parse_text(file, ConfigKind::module, ConfigParts::all);
  return file;
}

struct File {
  const char* name = nullptr;
  const char* text = nullptr;
};

std::vector<CoreRequirement> read(const std::vector<File>& given, ClientKind tool = ClientKind::opentofu) {
  std::vector<ConfigText> files;
  for (const File& file : given) {
    if (file.name != nullptr) {
      files.push_back(config_text(file.name, file.text));
    }
  }
  return read_core_requirements(files, tool);
}

// "main.tf:1:2 message", each on a line.
std::string shown(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    text += fmt::format("{} {}{}\n", to_string(diagnostic.what.location.value_or(Location{})),
                        diagnostic.severity == Severity::warning ? "warning: " : "", diagnostic.what.message);
  }
  return text;
}

std::string required(const char* constraint) {
  return fmt::format("terraform {{\n  required_version = {}\n}}\n", constraint);
}

}  // namespace

BOOST_AUTO_TEST_CASE(finds_the_requirements_in_file_order) {
  const auto found =
      read({{"a.tf", "terraform {\n  required_version = \">= 1.0\"\n}\n"},
            {"b.tofu", "language {\n  compatible_with {\n    opentofu = \">= 1.12\"\n    other = var.x\n  }\n}\n"},
            {"c.tofu.json", "{\"terraform\": [{\"required_version\": \"< 2\"}]}"}});
  BOOST_REQUIRE(found.size() == 3U);
  BOOST_TEST((found[0].kind == CoreRequirement::Kind::required_version));
  BOOST_TEST(found[0].constraint == ">= 1.0");
  BOOST_TEST(to_string(found[0].location) == "m/a.tf:2:22");
  BOOST_TEST(!found[0].tofu_file);
  BOOST_TEST((found[1].kind == CoreRequirement::Kind::compatible_with));
  BOOST_TEST(found[1].constraint == ">= 1.12");
  BOOST_TEST(to_string(found[1].location) == "m/b.tofu:3:16");
  BOOST_TEST(found[1].tofu_file);
  BOOST_TEST((found[2].kind == CoreRequirement::Kind::required_version));
  BOOST_TEST(found[2].constraint == "< 2");
  BOOST_TEST(found[2].tofu_file);
}

BOOST_AUTO_TEST_CASE(passes_over_what_states_nothing) {
  for (const char* text :
       {"terraform {\n  required_version = null\n}\n", "terraform {}\nlocals {\n  required_version = \"1\"\n}\n",
        "terraform {\n  required_version = [1]\n}\n", "terraform {\n  required_version = var.x\n}\n",
        "language {\n  compatible_with {}\n}\n",
        "language {\n  edition = tofu2099\n  experiments = [a]\n  later {}\n}\n"}) {
    BOOST_TEST(read({{"a.tf", text}}).empty(), text);
  }
  const char* const language = "language {\n  compatible_with {\n    opentofu = \"1\"\n  }\n}\n";
  BOOST_TEST(read({{"a.tf", language}}).size() == 1U);
  BOOST_TEST(read({{"a.tf", language}}, ClientKind::terraform).empty());
}

BOOST_AUTO_TEST_CASE(decides_which_releases_obey) {
  struct Row {
    const char* name;
    const char* file;
    const char* text;
    bool tofu_1_11;
    bool tofu_1_12;
    bool terraform;
  };
  const std::string plain = required("\">= 1.0\"");
  const Row rows[] = {
      {"required_version in .tf", "a.tf", plain.c_str(), true, false, true},
      {"required_version in .tofu", "a.tofu", plain.c_str(), true, true, true},
      {"required_version in .tf.json", "a.tf.json", "{\"terraform\": {\"required_version\": \"1\"}}", true, false,
       true},
      {"required_version in .tofu.json", "a.tofu.json", "{\"terraform\": {\"required_version\": \"1\"}}", true, true,
       true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto found = read({{row.file, row.text}});
      BOOST_REQUIRE(found.size() == 1U);
      const CoreRequirement& requirement = found[0];
      BOOST_TEST(applies(requirement, ClientKind::opentofu, "1.11.14") == row.tofu_1_11);
      BOOST_TEST(applies(requirement, ClientKind::opentofu, "1.12.0-rc1") == row.tofu_1_12);
      BOOST_TEST(applies(requirement, ClientKind::opentofu, "2.0.0") == row.tofu_1_12);
      BOOST_TEST(applies(requirement, ClientKind::terraform, "1.12.0") == row.terraform);
    }
  }
  const auto found = read({{"a.tf", "language {\n  compatible_with {\n    opentofu = \"1.12.0\"\n  }\n}\n"}});
  BOOST_TEST(!applies(found.at(0), ClientKind::opentofu, "1.11.0"));
  BOOST_TEST(applies(found.at(0), ClientKind::opentofu, "1.12.0"));
}

BOOST_AUTO_TEST_CASE(says_what_a_release_would_say) {
  struct Row {
    const char* name;
    ClientKind tool;
    const char* version;
    const char* file;
    const char* text;
    const char* expected;
  };
  const std::string future = required("\">= 9.0\"");
  const std::string release = required("\"1.13.0\"");
  const std::string word = required("\"x\"");
  const std::string number = required("9.50");
  const Row rows[] = {
      {"satisfied", ClientKind::opentofu, "9.0.0", "a.tofu", future.c_str(), ""},
      {"excluded", ClientKind::opentofu, "1.12.6", "a.tofu", future.c_str(),
       "m/a.tofu:2:22 Incompatible module: this module is not compatible with OpenTofu v1.12.6, it requires \">= "
       "9.0\"\n"},
      {"excluded in .tf", ClientKind::opentofu, "1.12.6", "a.tf", future.c_str(), ""},
      {"excluded before 1.12", ClientKind::opentofu, "1.11.3", "a.tf", future.c_str(),
       "m/a.tf:2:22 Unsupported OpenTofu Core version: this module is not compatible with OpenTofu v1.11.3, it "
       "requires "
       "\">= 9.0\"\n"},
      {"excluded by Terraform", ClientKind::terraform, "1.11.4", "a.tf", future.c_str(),
       "m/a.tf:2:22 Unsupported Terraform Core version: this module is not compatible with Terraform v1.11.4, it "
       "requires \">= 9.0\"\n"},
      {"a prerelease counts as its release", ClientKind::opentofu, "1.13.0-rc1", "a.tofu", release.c_str(), ""},
      {"not a constraint", ClientKind::terraform, "1.11.4", "a.tf", word.c_str(), ""},
      {"number", ClientKind::terraform, "1.11.4", "a.tf", number.c_str(),
       "m/a.tf:2:22 Unsupported Terraform Core version: this module is not compatible with Terraform v1.11.4, it "
       "requires \"9.5\"\n"},
      {"compatible_with", ClientKind::opentofu, "1.12.6", "a.tf",
       "language {\n  compatible_with {\n    opentofu = \">= 1.13\"\n  }\n}\n",
       "m/a.tf:3:16 Incompatible module: this module is not compatible with OpenTofu v1.12.6, it requires \">= "
       "1.13\"\n"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto found = read({{row.file, row.text}}, row.tool);
      const Diagnostics said = check_core_requirements(found, row.tool, row.version);
      BOOST_TEST(shown(said) == row.expected);
      for (const Diagnostic& diagnostic : said) {
        BOOST_TEST((diagnostic.what.code == Code::constraint_conflict));
        BOOST_TEST(diagnostic.what.hint != "");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_override_file_replaces_required_version_up_to_1_11) {
  struct Row {
    const char* name;
    const char* primary;
    const char* override_file;
    const char* later_override_file;
    std::vector<const char*> obeyed;
  };
  const Row rows[] = {
      {"replaced", "\">= 9\"", "\">= 1\"", nullptr, {">= 1"}},
      {"the last one counts", "\">= 9\"", "\">= 8\"", "\">= 7\"", {">= 7"}},
      {"null replaces too", "\">= 9\"", "null", nullptr, {}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string first = required(row.primary);
      const std::string second = required(row.override_file);
      const std::string third = row.later_override_file == nullptr ? "" : required(row.later_override_file);
      const auto found =
          read({{"a_override.tf", second.c_str()}, {"b.tf", first.c_str()}, {"c_override.tf", third.c_str()}});
      std::vector<std::string> obeyed;
      for (const CoreRequirement& requirement : found) {
        if (applies(requirement, ClientKind::terraform, "1.11.4")) {
          obeyed.push_back(requirement.constraint);
        }
      }
      BOOST_TEST(obeyed == std::vector<std::string>(row.obeyed.begin(), row.obeyed.end()),
                 boost::test_tools::per_element());
    }
  }
  const std::string strict = required("\">= 9\"");
  const std::string lax = required("\">= 1\"");
  const auto found = read({{"a.tofu", strict.c_str()}, {"a_override.tofu", lax.c_str()}});
  BOOST_TEST(check_core_requirements(found, ClientKind::opentofu, "1.12.6").size() == 1U);
  BOOST_TEST(check_core_requirements(found, ClientKind::opentofu, "1.11.6").empty());
}

BOOST_AUTO_TEST_SUITE_END()
