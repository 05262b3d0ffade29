#include "plugin/settings/settings_documents.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>

#include "plugin/settings/setting_table.h"
#include "plugin/settings/settings.h"
#include "protocol/base/json.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

Result<Settings> load_repository_settings(const std::string& text) {
  const TemporaryDirectory directory;
  write_text(directory / std::string(kSettingsFileName), text);
  return load_directory_settings(directory / ".", directory / ".");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(settings_documents)

BOOST_AUTO_TEST_CASE(the_commented_file_sets_nothing) {
  const auto settings = load_repository_settings(commented_settings());
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST(!settings->resolution.has_value());
  BOOST_TEST(settings->modules.empty());
  BOOST_TEST(settings->sources.empty());
}

BOOST_AUTO_TEST_CASE(only_the_sidecar_is_set) {
  const auto settings = load_repository_settings(commented_settings(true));
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST((settings->uses_sidecar == true));
  BOOST_TEST(!settings->resolution.has_value());
}

BOOST_AUTO_TEST_CASE(each_commented_setting_is_valid) {
  std::string text = std::regex_replace(commented_settings(), std::regex("(^|\n)#(?! )"), "$1");
  text = std::regex_replace(text, std::regex("\n#  signed_by_openpgp .*"), "");  // excludes signed_by_ssh
  const auto settings = load_repository_settings(std::regex_replace(text, std::regex("\n#  (?=\\w)"), "\n  "));
  BOOST_TEST_REQUIRE(settings.has_value(), (settings ? "" : settings.error().message));
  BOOST_TEST((settings->resolution == Resolution::automatic));
  BOOST_TEST((settings->uses_sidecar == false));
  BOOST_TEST(settings->platforms.size() == 2U);
  BOOST_TEST(settings->modules.at("network.label").version.value().text == "~> 1.2");
  BOOST_TEST(settings->sources.at(0).minimum_release_age.value().text == "3d");
}

BOOST_AUTO_TEST_CASE(lines_of_the_commented_file_fit) {
  std::istringstream lines(commented_settings());
  for (std::string line; std::getline(lines, line);) {
    BOOST_TEST(line.size() <= 120U, line);
  }
}

BOOST_AUTO_TEST_CASE(each_setting_of_the_user_is_valid_and_printed) {
  const auto plain = [](std::string_view value) {
    std::string text(value);
    std::erase_if(text, [](char c) { return c == '"' || c == '[' || c == ']'; });
    return text;
  };
  const TemporaryDirectory directory;
  for (const SettingInfo& setting : setting_table()) {
    if (!setting.block.empty()) {
      continue;
    }
    BOOST_TEST_CONTEXT(setting.name) {
      const std::string text = std::string(setting.name) + " = " + std::string(setting.value) + "\n";
      write_text(directory / "config.hcl", text);
      const auto settings = load_user_settings(directory / "config.hcl");
      BOOST_TEST_REQUIRE(settings.has_value());
      if (setting.name != "required_version") {
        BOOST_TEST_REQUIRE((setting.access.print != nullptr));
        BOOST_TEST(plain(setting.access.print(setting, *settings)) == plain(setting.value));
      }
      BOOST_TEST(load_repository_settings(text).has_value() == (setting.file != SettingInfo::File::user));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_schema_describes_a_setting) {
  const Json::Value schema = settings_schema();
  BOOST_TEST(
      write_json(schema["properties"]["resolution"]) ==
      "{\"default\":\"auto\",\"description\":\"Which calls share a version: those of one repository (auto), of one "
      "source (unified), or none (per-call)\",\"enum\":[\"auto\",\"unified\",\"per-call\"],\"type\":\"string\"}");
  BOOST_TEST(
      write_json(schema["properties"]["connections"]) ==
      "{\"default\":32,\"description\":\"The maximum number of connections to one host (only in your own file)\","
      "\"maximum\":64,\"minimum\":1,\"type\":\"integer\"}");
  BOOST_TEST(write_json(schema["properties"]["module"]["additionalProperties"]) ==
             "{\"anyOf\":[{\"$ref\":\"#/definitions/module\"},{\"items\":{\"$ref\":\"#/definitions/module\"},"
             "\"maxItems\":1,\"type\":\"array\"}]}");
  for (const SettingInfo& setting : setting_table()) {
    const Json::Value& body = setting.block.empty() ? schema : schema["definitions"][std::string(setting.block)];
    BOOST_TEST(body["properties"].isMember(std::string(setting.name)), setting.name);
  }
}

// docs/settings.schema.json is what `schema settings` prints, and docs/settings.md has each setting and each default.
BOOST_AUTO_TEST_CASE(the_pages_are_up_to_date) {
  const std::filesystem::path docs = MODLOCK_DOCS;
  BOOST_TEST(read_text(docs / "settings.schema.json") == write_json_pretty(settings_schema()),
             "run: tofu-modlock schema settings > docs/settings.schema.json");
  const std::string page = read_text(docs / "settings.md");
  for (const SettingInfo& setting : setting_table()) {
    BOOST_TEST(page.find("`" + std::string(setting.name) + "`") != std::string::npos, setting.name);
    if (setting.is_default) {
      const std::string value = std::string(setting.value);
      const std::string shown = value.starts_with('"') ? "`" + value + "`" : value;
      BOOST_TEST(page.find("| `" + std::string(setting.name) + "` | " + shown + " |") != std::string::npos,
                 setting.name);
    }
    for (const std::string_view override : {setting.overridden_by.flag, setting.overridden_by.variable}) {
      BOOST_TEST((override.empty() || page.find(fmt::format("`{}`", override)) != std::string::npos), override);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
