#include "plugin/settings/settings_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "plugin/settings/setting_table.h"
#include "protocol/base/json.h"

namespace modlock {
namespace {

using Kind = SettingInfo::Kind;
using File = SettingInfo::File;

std::string place_of(const SettingInfo& setting) {
  return setting.file == File::user         ? " (only in your own file)"
         : setting.file == File::repository ? " (only in .tofu-modlock.hcl)"
                                            : "";
}

Json::Value schema_of(const SettingInfo& setting) {
  Json::Value schema;
  schema["description"] = std::string(setting.meaning) + place_of(setting);
  schema["type"] = setting.kind == Kind::count                              ? "integer"
                   : setting.kind == Kind::list                             ? "array"
                   : setting.kind == Kind::flag || setting.kind == Kind::no ? "boolean"
                                                                            : "string";
  if (setting.kind == Kind::no) {
    schema["enum"].append(false);
  }
  if (setting.kind == Kind::list) {
    schema["items"]["type"] = "string";
  }
  if (setting.kind == Kind::count) {
    schema["minimum"] = Json::UInt64(setting.least);
    schema["maximum"] = Json::UInt64(setting.most);
  }
  for (const std::string_view choice : setting.choices) {
    schema["enum"].append(std::string(choice));
  }
  const Json::Value value = parse_json(setting.value).value_or(Json::Value());
  if (setting.is_default) {
    schema["default"] = value;
  } else {
    schema["examples"].append(value);
  }
  return schema;
}

Json::Value body_schema(std::string_view block) {
  Json::Value schema;
  schema["type"] = "object";
  schema["additionalProperties"] = false;
  for (const SettingInfo& setting : setting_table()) {
    if (setting.block == block) {
      schema["properties"][std::string(setting.name)] = schema_of(setting);
    }
  }
  return schema;
}

std::string assignments(std::string_view block, std::string_view margin) {
  std::size_t width = 0;
  for (const SettingInfo& setting : setting_table()) {
    width = setting.block == block ? std::max(width, setting.name.size()) : width;
  }
  std::string text;
  for (const SettingInfo& setting : setting_table()) {
    if (setting.block == block && setting.file != File::user) {
      text += fmt::format("#{}{:<{}} = {}\n", margin, setting.name, width, setting.value);
    }
  }
  return text;
}

}  // namespace

Json::Value settings_schema() {
  Json::Value schema = body_schema("");
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "Settings of tofu-modlock: .tofu-modlock.hcl and the user's config.hcl, in the JSON form of HCL";
  for (const BlockLabel& label : block_labels()) {
    const std::string name(label.block);
    schema["definitions"][name] = body_schema(label.block);
    Json::Value body;
    body["$ref"] = "#/definitions/" + name;
    Json::Value list;
    list["type"] = "array";
    list["items"] = body;
    list["maxItems"] = 1;
    Json::Value& property = schema["properties"][name];
    property["description"] = std::string(label.meaning);
    property["type"] = "object";
    property["additionalProperties"]["anyOf"].append(body);
    property["additionalProperties"]["anyOf"].append(list);
  }
  return schema;
}

std::string commented_settings(bool uses_sidecar) {
  std::string text =
      "# Settings of tofu-modlock for the root modules in and below this directory. Each setting after a # is a\n"
      "# comment with its default or an example: remove the # to set it. Settings of your machine are in your own "
      "file,\n"
      "# ~/.config/tofu-modlock/config.hcl.\n";
  for (const SettingInfo& setting : setting_table()) {
    if (setting.block.empty() && setting.file != File::user) {
      const bool is_set = uses_sidecar && setting.name == "module_lock_file";
      text += is_set ? fmt::format("\n# {}. A client deletes inline blocks:\n{} = \"sidecar\"\n", setting.meaning,
                                   setting.name)
                     : fmt::format("\n# {}. {}:\n#{} = {}\n", setting.meaning,
                                   setting.is_default ? "Default" : "Example", setting.name, setting.value);
    }
  }
  for (const BlockLabel& label : block_labels()) {
    if (const std::string body = assignments(label.block, "  "); !body.empty()) {
      text += fmt::format("\n# {}:\n#{} \"{}\" {{\n{}#}}\n", label.meaning, label.block, label.example, body);
    }
  }
  return text;
}

}  // namespace modlock
