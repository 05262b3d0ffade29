#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "plugin/cli/command_line.h"
#include "plugin/cli/help_text.h"
#include "plugin/settings/setting_table.h"

// Flags that several commands have.
namespace modlock::cli {

// What a flag has besides its names and its description.
struct FlagTraits {
  const char* value = "";     // the name of its value in the help
  std::string variable = {};  // the environment variable that sets it, too
  bool is_rare = false;       // only --help-all shows it
  std::vector<std::string> choices = {};
};

// Adds a flag or a positional argument. A list gets one value from each flag.
template <typename Value>
CLI::Option* add(CLI::App& command, const std::string& names, Value& value, const std::string& what,
                 const FlagTraits& traits = {}) {
  CLI::Option* option = nullptr;
  if constexpr (std::is_same_v<Value, bool>) {
    option = command.add_flag(names, value, what);
  } else {
    option = command.add_option(names, value, what);
  }
  if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    option->allow_extra_args(!names.starts_with('-'));
  }
  if (*traits.value != '\0') {
    option->type_name(traits.value);
  }
  if (!traits.choices.empty()) {
    option->check(CLI::IsMember(traits.choices));
  }
  return option->envname(traits.variable)->group(traits.is_rare ? kRareFlags : option->get_group());
}

// Adds the flag that overrides a setting outside of blocks: the table of settings describes it.
template <typename Value>
CLI::Option* add_override(CLI::App& command, std::string_view setting_name, Value& value, const char* value_name = "") {
  const SettingInfo& setting = *find_setting(setting_name);
  std::string what(setting.meaning);
  if (setting.is_default) {
    what += fmt::format(" (default {}{})", setting.value,
                        setting.most == 0 ? "" : fmt::format(", maximum {}", setting.most));
  }
  std::erase(what, '"');
  CLI::Option* option = add(command, std::string(setting.flag), value, what,
                            {.value = value_name,
                             .variable = std::string(setting.variable),
                             .is_rare = true,
                             .choices = {setting.choices.begin(), setting.choices.end()}});
  if (setting.most != 0) {
    option->check(CLI::Range(setting.least, setting.most));
  }
  return option;
}

// Adds a flag and its opposite.
void add_switch(CLI::App& command, const std::string& name, std::optional<bool>& value, const char* on,
                const char* off);

void add_place_flags(CLI::App& command, CommonFlags& flags);
void add_store_flags(CLI::App& command, CommonFlags& flags);
void add_network_flags(CLI::App& command, CommonFlags& flags);
void add_plain_http_flag(CLI::App& command, CommonFlags& flags);
void add_implementation_flags(CLI::App& command, CommonFlags& flags);
void add_workspace_root_flag(CLI::App& command, CommonFlags& flags);
// Flags that decide how a root is read.
void add_reading_flags(CLI::App& command, CommonFlags& flags);
// --recursive and its search flags.
void add_recursive_flags(CLI::App& command, CommonFlags& flags);
// The flags of commands for root modules; `names` without DIR if other arguments take its place.
inline constexpr const char* kDirectories = "Root modules to process (default: the current directory)";
void add_root_flags(CLI::App& command, CommonFlags& flags, const char* names = "DIR,--chdir",
                    const char* what = kDirectories);

}  // namespace modlock::cli
