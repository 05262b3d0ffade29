#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugin/settings/settings_reader.h"

namespace modlock {

// A setting of `.tofu-modlock.hcl` or of the user's file. The reader, `init`, `doctor`, the JSON Schema, and the flag
// that overrides the setting use this description.
struct SettingInfo {
  enum class Kind { text, choice, list, count, flag, no };  // no: only `false`
  enum class File { any, repository, user };

  std::string_view block;  // "module", "source", "deny" or "backend"; empty outside of a block
  std::string_view name;
  Kind kind;
  File file;
  std::string_view value;  // the default if there is one, otherwise an example; both in HCL and in JSON
  bool is_default;
  std::string_view meaning;  // without a final period
  // Of a setting outside of blocks. `read` adds the value of one file to those of nearer files, which win:
  // CONFIG_PARSE. `print` returns the value for people; empty: it is not set.
  struct Access {
    Result<void> (*read)(const SettingInfo& setting, const SettingsText& in, const hcl::Attribute& attribute,
                         Settings& settings) = nullptr;
    std::string (*print)(const SettingInfo& setting, const Settings& settings) = nullptr;
  };
  Access access = {};
  // What overrides the setting; empty: nothing.
  std::string_view flag = {};
  std::string_view variable = {};
  std::vector<std::string_view> choices = {};  // of a choice
  std::size_t least = 0;                       // of a count
  std::size_t most = 0;
};

// Returns all settings; those of a block are together.
const std::vector<SettingInfo>& setting_table();

// Returns the names of the settings of a block, or of those outside of blocks, in the order of the table.
std::vector<std::string_view> setting_names(std::string_view block);

// Returns the setting outside of blocks that has this name, or null.
const SettingInfo* find_setting(std::string_view name);

// An example of the label of a block, and its meaning.
struct BlockLabel {
  std::string_view block;
  std::string_view example;
  std::string_view meaning;
  std::string (*print)(const Settings& settings);  // returns the labels of all such blocks
};
const std::vector<BlockLabel>& block_labels();

}  // namespace modlock
