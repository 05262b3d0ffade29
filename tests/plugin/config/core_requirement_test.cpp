#include "plugin/config/core_requirement.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "plugin/config/config_schema.h"
#include "plugin/hcl/json_syntax.h"

using namespace modlock;

namespace {

ConfigText config_text(const std::string& name, const std::string& text) {
  ConfigText file{.name = name, .path = "m/" + name, .text = text};
  file.json = name.ends_with(".json");
  file.role = name.find("override.") != std::string::npos ? ConfigFile::Role::override_file : ConfigFile::Role::primary;
  file.parsed = file.json ? hcl::parse_json(text, file.path, module_file_schema()) : hcl::parse_native(text, file.path);
  return file;
}

struct File {
  const char* name = nullptr;
  const char* text = nullptr;
};

struct Read {
  std::vector<ConfigText> files;
  Diagnostics diagnostics;
  std::vector<CoreRequirement> requirements;
};

Read read(const std::vector<File>& given, ClientKind tool = ClientKind::opentofu) {
  Read result;
  for (const File& file : given) {
    if (file.name != nullptr) {
      result.files.push_back(config_text(file.name, file.text));
    }
  }
  result.requirements = read_core_requirements(result.files, tool, result.diagnostics);
  return result;
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

BOOST_AUTO_TEST_SUITE(core_requirement_test)

BOOST_AUTO_TEST_CASE(finds_the_requirements_in_file_order) {
  const auto found =
      read({{"a.tf", "terraform {\n  required_version = \">= 1.0\"\n}\n"},
            {"b.tofu", "language {\n  compatible_with {\n    opentofu = \">= 1.12\"\n    other = var.x\n  }\n}\n"},
            {"c.tofu.json", "{\"terraform\": [{\"required_version\": \"< 2\"}]}"}});
  BOOST_TEST(shown(found.diagnostics) == "");
  BOOST_REQUIRE(found.requirements.size() == 4U);
  BOOST_TEST((found.requirements[0].kind == CoreRequirement::Kind::required_version));
  BOOST_TEST(found.requirements[0].constraint == ">= 1.0");
  BOOST_TEST(to_string(found.requirements[0].location) == "m/a.tf:2:22");
  BOOST_TEST(!found.requirements[0].tofu_file);
  BOOST_TEST((found.requirements[1].kind == CoreRequirement::Kind::language));
  BOOST_TEST(to_string(found.requirements[1].location) == "m/b.tofu:1:1");
  BOOST_TEST((found.requirements[2].kind == CoreRequirement::Kind::compatible_with));
  BOOST_TEST(found.requirements[2].constraint == ">= 1.12");
  BOOST_TEST(to_string(found.requirements[2].location) == "m/b.tofu:3:16");
  BOOST_TEST(found.requirements[2].tofu_file);
  BOOST_TEST((found.requirements[3].kind == CoreRequirement::Kind::required_version));
  BOOST_TEST(found.requirements[3].constraint == "< 2");
  BOOST_TEST(found.requirements[3].tofu_file);
}

BOOST_AUTO_TEST_CASE(passes_over_what_states_nothing) {
  BOOST_TEST(read({{"a.tf", "terraform {\n  required_version = null\n}\n"}}).requirements.empty());
  BOOST_TEST(read({{"a.tf", "terraform \"x\" {\n  required_version = \"1\"\n}\n"}}).requirements.empty());
  BOOST_TEST(read({{"a.tf", "terraform {}\nlocals {\n  required_version = \"1\"\n}\n"}}).requirements.empty());
  BOOST_TEST(read({{"a.tf", "language {\n  compatible_with {}\n}\n"}}).requirements.size() == 1U);
  BOOST_TEST(read({{"a.tf", "language {}\n"}}, ClientKind::terraform).requirements.empty());
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
  const char* const language = "language {\n}\n";
  const Row rows[] = {
      {"required_version in .tf", "a.tf", plain.c_str(), true, false, true},
      {"required_version in .tofu", "a.tofu", plain.c_str(), true, true, true},
      {"required_version in .tf.json", "a.tf.json", "{\"terraform\": {\"required_version\": \"1\"}}", true, false,
       true},
      {"required_version in .tofu.json", "a.tofu.json", "{\"terraform\": {\"required_version\": \"1\"}}", true, true,
       true},
      {"language block", "a.tf", language, true, false, true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto found = read({{row.file, row.text}});
      BOOST_REQUIRE(found.requirements.size() == 1U);
      const CoreRequirement& requirement = found.requirements[0];
      BOOST_TEST(applies(requirement, ClientKind::opentofu, "1.11.14") == row.tofu_1_11);
      BOOST_TEST(applies(requirement, ClientKind::opentofu, "1.12.0-rc1") == row.tofu_1_12);
      BOOST_TEST(applies(requirement, ClientKind::opentofu, "2.0.0") == row.tofu_1_12);
      BOOST_TEST(applies(requirement, ClientKind::terraform, "1.12.0") == row.terraform);
    }
  }
  const auto found = read({{"a.tf", "language {\n  compatible_with {\n    opentofu = \"1.12.0\"\n  }\n}\n"}});
  BOOST_TEST(!applies(found.requirements.at(1), ClientKind::opentofu, "1.11.0"));
  BOOST_TEST(applies(found.requirements.at(1), ClientKind::opentofu, "1.12.0"));
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
  const std::string prerelease = required("\">= 1.0, < 2-rc1\"");
  const std::string list = required("[1]");
  const std::string word = required("\"x\"");
  const std::string number = required("9.50");
  const std::string reference = required("var.x");
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
      {"prerelease in the constraint", ClientKind::opentofu, "1.12.6", "a.tofu", prerelease.c_str(),
       "m/a.tofu:2:22 Invalid required_version constraint: prerelease version constraints are not supported, found "
       "\">= 1.0, < 2-rc1\"\n"},
      {"not a string", ClientKind::opentofu, "1.12.6", "a.tofu", list.c_str(),
       "m/a.tofu:2:22 Invalid version constraint: a string value is required for required_version, found tuple\n"},
      {"not a string where nobody looks", ClientKind::opentofu, "1.12.6", "a.tf", list.c_str(), ""},
      {"not a constraint", ClientKind::terraform, "1.11.4", "a.tf", word.c_str(),
       "m/a.tf:2:22 Invalid version constraint: \"x\" is not a version constraint: item \"x\" must be an optional "
       "operator (=, !=, >, >=, <, <=, ~>) and a version\n"},
      {"number", ClientKind::terraform, "1.11.4", "a.tf", number.c_str(),
       "m/a.tf:2:22 Unsupported Terraform Core version: this module is not compatible with Terraform v1.11.4, it "
       "requires \"9.5\"\n"},
      {"reference where nobody looks", ClientKind::opentofu, "1.12.6", "a.tf", reference.c_str(), ""},
      {"language before 1.12", ClientKind::opentofu, "1.11.3", "a.tf", "language {}\n",
       "m/a.tf:1:1 Unsupported block type: blocks of type \"language\" are not expected by OpenTofu v1.11.3, they came "
       "with 1.12\n"},
      {"language", ClientKind::opentofu, "1.12.0", "a.tf", "language {}\n", ""},
      {"compatible_with", ClientKind::opentofu, "1.12.6", "a.tf",
       "language {\n  compatible_with {\n    opentofu = \">= 1.13\"\n  }\n}\n",
       "m/a.tf:3:16 Incompatible module: this module is not compatible with OpenTofu v1.12.6, it requires \">= "
       "1.13\"\n"},
      {"ineffective", ClientKind::opentofu, "1.12.6", "a.tf",
       "language {\n  compatible_with {\n    opentofu = \">= 1.10\"\n  }\n}\n",
       "m/a.tf:3:16 warning: Ineffective version constraint: releases before OpenTofu 1.12 do not know "
       "compatible_with, but \">= 1.10\" admits them\n"},
      {"incompatible hides the rest", ClientKind::opentofu, "1.12.6", "a.tofu",
       "terraform {\n  required_version = \"x\"\n}\nterraform {\n  required_version = \"9\"\n}\n",
       "m/a.tofu:5:22 Incompatible module: this module is not compatible with OpenTofu v1.12.6, it requires \"9\"\n"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto found = read({{row.file, row.text}}, row.tool);
      BOOST_TEST(shown(found.diagnostics) == "");
      const Diagnostics said = check_core_requirements(found.requirements, row.tool, row.version);
      BOOST_TEST(shown(said) == row.expected);
      for (const Diagnostic& diagnostic : said) {
        const bool excludes = diagnostic.what.message.find("it requires") != std::string::npos;
        BOOST_TEST((diagnostic.what.code == (excludes ? Code::constraint_conflict : Code::config_parse)));
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
      {"what is no constraint replaces nothing", "\">= 9\"", "\"x\"", nullptr, {"x", ">= 9"}},
      {"what is no constraint is not replaced", "\"x\"", "\">= 1\"", nullptr, {">= 1", "x"}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string first = required(row.primary);
      const std::string second = required(row.override_file);
      const std::string third = row.later_override_file == nullptr ? "" : required(row.later_override_file);
      const auto found =
          read({{"a_override.tf", second.c_str()}, {"b.tf", first.c_str()}, {"c_override.tf", third.c_str()}});
      std::vector<std::string> obeyed;
      for (const CoreRequirement& requirement : found.requirements) {
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
  BOOST_TEST(check_core_requirements(found.requirements, ClientKind::opentofu, "1.12.6").size() == 1U);
  BOOST_TEST(check_core_requirements(found.requirements, ClientKind::opentofu, "1.11.6").empty());
}

BOOST_AUTO_TEST_CASE(checks_language_blocks) {
  struct Row {
    const char* name;
    const char* file;
    const char* text;
    const char* expected;
  };
  constexpr const char* kNoKeyword =
      "Invalid language edition: the \"edition\" argument expects a bare language edition keyword\n";
  const std::string no_keyword = fmt::format("m/a.tf:2:13 {}", kNoKeyword);
  const std::string no_keyword_json = fmt::format("m/a.tf.json:1:26 {}", kNoKeyword);
  const Row rows[] = {
      {"what is allowed", "a.tf", "language {\n  edition = tofu2024\n  experiments = []\n}\n", ""},
      {"what is allowed in JSON", "a.tf.json", "{\"language\": {\"edition\": \"tofu2024\", \"experiments\": []}}", ""},
      {"edition in quotes", "a.tf", "language {\n  edition = \"tofu2024\"\n}\n", no_keyword.c_str()},
      {"edition in parentheses", "a.tf", "language {\n  edition = (tofu2024)\n}\n", no_keyword.c_str()},
      {"edition with an attribute", "a.tf", "language {\n  edition = a.b\n}\n", no_keyword.c_str()},
      {"edition with a blank in JSON", "a.tf.json", "{\"language\": {\"edition\": \"tofu 2024\"}}",
       no_keyword_json.c_str()},
      {"edition that is a number in JSON", "a.tf.json", "{\"language\": {\"edition\": 5}}", no_keyword_json.c_str()},
      {"edition of Terraform", "a.tf", "language {\n  edition = TF2021\n}\n",
       "m/a.tf:2:13 Unsupported language edition: OpenTofu does not support the edition TF2021\n"},
      {"older edition", "a.tf", "language {\n  edition = tofu2023\n}\n",
       "m/a.tf:2:13 Unsupported language edition: OpenTofu only supports the edition tofu2024, found tofu2023\n"},
      {"null is a keyword", "a.tf", "language {\n  edition = null\n}\n",
       "m/a.tf:2:13 Unsupported language edition: OpenTofu only supports the edition tofu2024, found null\n"},
      {"no list", "a.tf", "language {\n  experiments = 5\n}\n",
       "m/a.tf:2:17 Invalid expression: \"experiments\" must be a static list expression\n"},
      {"list in parentheses", "a.tf", "language {\n  experiments = ([])\n}\n",
       "m/a.tf:2:17 Invalid expression: \"experiments\" must be a static list expression\n"},
      {"experiments", "a.tf", "language {\n  experiments = [a, \"b\"]\n}\n",
       "m/a.tf:2:18 Unknown experiment keyword: there is no current experiment \"a\"\n"
       "m/a.tf:2:21 Invalid experiment keyword: elements of \"experiments\" must all be keywords\n"},
      {"experiments in JSON", "a.tf.json", "{\"language\": {\"experiments\": [\"a\", \"a b\"]}}",
       "m/a.tf.json:1:31 Unknown experiment keyword: there is no current experiment \"a\"\n"
       "m/a.tf.json:1:36 Invalid experiment keyword: elements of \"experiments\" must all be keywords\n"},
      {"in an override file", "a_override.tf", "language {\n  edition = x\n}\n",
       "m/a_override.tf:1:1 Language selections in override file: a \"language\" block is not allowed in an override "
       "file\n"},
      {"compatible_with twice", "a.tf",
       "language {\n  compatible_with {\n    opentofu = \">= 1.12\"\n  }\n  compatible_with {\n    other = 1\n  }\n"
       "  compatible_with {\n    opentofu = \">= 1.13\"\n  }\n}\n",
       "m/a.tf:8:3 Duplicate compatible_with block: a language block may have one compatible_with block that refers to "
       "OpenTofu\n"},
      {"what is no constraint does not count", "a.tf",
       "language {\n  compatible_with {\n    opentofu = \"x\"\n  }\n  compatible_with {\n    opentofu = \">= 1.12\"\n  "
       "}\n}\n",
       ""},
      {"two language blocks", "a.tf",
       "language {\n  compatible_with {\n    opentofu = \">= 1.12\"\n  }\n}\n"
       "language {\n  compatible_with {\n    opentofu = \">= 1.13\"\n  }\n}\n",
       ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto found = read({{row.file, row.text}});
      BOOST_TEST(shown(found.diagnostics) == row.expected);
      for (const Diagnostic& diagnostic : found.diagnostics) {
        BOOST_TEST((diagnostic.what.code == Code::config_parse));
        BOOST_TEST(diagnostic.what.hint != "");
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
