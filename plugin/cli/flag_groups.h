#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "plugin/cli/command_line.h"
#include "plugin/cli/help_text.h"
#include "plugin/settings/setting_table.h"

// Flags that several commands have, and the commands with theirs.
namespace modlock::cli {

// Adds -q and -v, which may also be written before a command.
void add_output_flags(CLI::App& app, CommonFlags& flags);

enum class Prints { data, report };

// A command of the command line.
struct CommandRow {
  const char* heading;  // in --help; kRareCommands: only in --help-all
  const char* parent;   // the parent command, or none
  const char* name;
  const char* what;
  const char* examples;
  void (*add_flags)(CLI::App&, CommandLine&);
  decltype(CommandLine::run) run;
  Prints prints = Prints::data;
  const char* alias = "";  // another name, or none
};
inline constexpr const char* kMaintain = "Maintain";  // the heading of commands with subcommands

std::span<const CommandRow> root_commands();
std::span<const CommandRow> other_commands();
// Adds all commands. Those that the parsed line names also get their flags.
void add_commands(CLI::App& app, CommandLine& out);

// What a flag has besides its names and its description.
struct FlagTraits {
  const char* value = "";     // the name of its value in the help
  std::string variable = {};  // the environment variable that sets it, too
  bool is_rare = false;       // only --help-all shows it
  std::vector<std::string> choices = {};
};

// A value that an option does not accept. The message follows the name of the flag, or of its variable.
struct WrongValue : CLI::ParseError {
  WrongValue(const CLI::Option* option, const std::string& message)
      : CLI::ParseError("WrongValue", message, CLI::ExitCodes::ValidationError), option(option) {}
  const CLI::Option* option;
};

// Throw WrongValue for a value that is not `expected`, one of the choices, or a number in these limits.
CLI::Option* check(CLI::Option* option, const std::string& expected, std::function<bool(const std::string&)> accepts,
                   const std::string& in_help = {});
CLI::Option* check_choices(CLI::Option* option, const std::vector<std::string>& choices);
CLI::Option* check_number(CLI::Option* option, std::uint64_t least, std::uint64_t most);

// Adds a flag or a positional argument ("DIR", "SUBJECT=VERSION"). A list gets one value from each flag.
template <typename Value>
CLI::Option* add(CLI::App& command, const std::string& names, Value& value, const std::string& what,
                 const FlagTraits& traits = {}) {
  CLI::Option* option = nullptr;
  if constexpr (std::is_same_v<Value, bool>) {
    bool read = false;
    option = check(command.add_flag(names, value, what), "true or false",
                   [read](const std::string& text) mutable { return CLI::detail::lexical_cast(text, read); });
  } else {
    const std::size_t equals = names.find('=');
    option = command.add_option(names.substr(0, equals), value, what);
    option->type_name(equals == std::string::npos ? option->get_type_name() : names);
  }
  if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    option->allow_extra_args(!names.starts_with('-'));
  }
  if (*traits.value != '\0') {
    option->type_name(traits.value);
  }
  if (!traits.choices.empty()) {
    check_choices(option, traits.choices);
  }
  return option->envname(traits.variable)->group(traits.is_rare ? kRareFlags : option->get_group());
}

// Adds the flag that overrides a setting outside of blocks: the table of settings describes it.
template <typename Value>
CLI::Option* add_override(CLI::App& command, const SettingInfo& setting, Value& value) {
  std::string what(setting.meaning);
  if (setting.is_default) {
    what += fmt::format(" (default {}{})", setting.value,
                        setting.most == 0 ? "" : fmt::format(", maximum {}", setting.most));
  }
  std::erase(what, '"');
  const SettingInfo::Override& by = setting.overridden_by;
  CLI::Option* option = add(command, std::string(by.flag), value, what,
                            {.value = by.value.data() == nullptr ? "" : by.value.data(),
                             .variable = std::string(by.variable),
                             .is_rare = true,
                             .choices = {setting.choices.begin(), setting.choices.end()}});
  if (setting.most != 0) {
    check_number(option, setting.least, setting.most);
  }
  return option;
}
// Adds those of these commands, in the opposite order: settings of a machine are the last ones.
void add_overrides(CLI::App& command, SettingInfo::Override::On commands, CommonFlags& flags);

// Adds a flag and its opposite.
void add_switch(CLI::App& command, const std::string& name, std::optional<bool>& value, const char* on,
                const char* off);

void add_place_flags(CLI::App& command, CommonFlags& flags);
void add_store_flags(CLI::App& command, CommonFlags& flags);
void add_network_flags(CLI::App& command, CommonFlags& flags);
void add_plain_http_flag(CLI::App& command, CommonFlags& flags);
void add_implementation_flags(CLI::App& command, CommonFlags& flags);
void add_data_dir_flag(CLI::App& command, CommonFlags& flags);
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
