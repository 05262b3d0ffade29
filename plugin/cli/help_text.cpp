#include "plugin/cli/help_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "plugin/cli/terminal.h"

namespace modlock::cli {
namespace {

constexpr std::size_t kColumn = 30;  // of descriptions

// Returns the columns of the terminal, from 80 to 100; 100 if stdout is not a terminal.
std::size_t width() {
  constexpr std::size_t kLeast = 80;
  constexpr std::size_t kMost = 100;
  const std::size_t columns = terminal_columns();
  return columns == 0 ? kMost : std::clamp(columns, kLeast, kMost);
}

// Wraps a text for lines that start at this column.
std::string wrapped(std::string_view text, std::size_t column) {
  const std::size_t room = width() - column;
  return wrapped_text(text, room, room, column, Breaks::anywhere);
}

std::string row(const std::string& name, std::string_view what) {
  const std::string left = "  " + name;
  const std::string gap =
      left.size() < kColumn ? std::string(kColumn - left.size(), ' ') : "\n" + std::string(kColumn, ' ');
  return left + gap + wrapped(what, kColumn) + "\n";
}

// Returns "{auto,always,never}" of "TEXT:{auto,always,never}", and "N" of "N:INT in [1 - 64]".
std::string value_name(const std::string& type) {
  const std::size_t choices = type.find('{');
  return choices == std::string::npos ? type.substr(0, type.find(':')) : type.substr(choices);
}

}  // namespace

std::string name_of(const CLI::Option& option, bool is_positional) {
  const std::string name = option.get_name(is_positional);
  const std::string type = option.get_type_name();
  return type.starts_with(name + "=") ? type : name;
}

std::string HelpText::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), 0) + "\n";
}

std::string HelpText::make_group(std::string group, bool is_positional, std::vector<const CLI::Option*> options) const {
  if (group == kRareFlags && !shows_rare_) {
    return "For more flags, use --help-all.\n";
  }
  constexpr std::array<std::string_view, 6> kOfAll = {"--help",  "--help-all", "--version",
                                                      "--quiet", "--verbose",  "--json"};
  std::stable_partition(options.begin(), options.end(), [&](const CLI::Option* option) {
    return std::ranges::find(kOfAll, option->get_name()) == kOfAll.end();
  });
  std::string text = CLI::Formatter::make_group(group, is_positional, std::move(options));
  return group == kRareFlags ? text.substr(1) : text;  // a blank line is already there
}

std::string HelpText::make_option(const CLI::Option* option, bool is_positional) const {
  std::string name = make_option_name(option, is_positional);
  const std::string value = option->get_type_size() == 0 ? std::string() : value_name(option->get_type_name());
  if (const std::size_t default_value = name.find('{'); default_value != std::string::npos) {
    name = fmt::format("{}[={}]", name.substr(0, default_value), value);
  } else if (!value.empty() && (!is_positional || value.front() == '{')) {
    name += " " + value;
  }
  if (option->get_expected_max() == CLI::detail::expected_max_vector_size) {
    name += " ...";
  }
  std::string what = option->get_description();
  if (option->get_required()) {
    what += " (required)";
  }
  std::vector<std::string> others;
  for (const CLI::Option* other : option->get_excludes()) {
    others.push_back(name_of(*other));
  }
  std::ranges::sort(others);  // CLI11 has them by address
  if (!others.empty()) {
    what += fmt::format(" (not with {})", fmt::join(others, ", "));
  }
  if (!option->get_envname().empty()) {
    what += fmt::format(" (environment: {})", option->get_envname());
  }
  return row(name, what);
}

std::string HelpText::make_option_name(const CLI::Option* option, bool is_positional) const {
  return is_positional ? name_of(*option, true) : CLI::Formatter::make_option_name(option, is_positional);
}

std::string HelpText::make_subcommands(const CLI::App* app, CLI::AppFormatMode /*mode*/) const {
  std::vector<std::string> headings;
  const auto commands = app->get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* command : commands) {
    if (std::ranges::find(headings, command->get_group()) == headings.end()) {
      headings.push_back(command->get_group());
    }
  }
  std::string text;
  for (const std::string& heading : headings) {
    if (heading == kRareCommands && !shows_rare_) {
      text += "\nFor more commands, use --help-all.\n";
      continue;
    }
    text += fmt::format("\n{}:\n", heading);
    for (const CLI::App* command : commands) {
      text += command->get_group() == heading ? make_subcommand(command) : "";
    }
  }
  return text;
}

std::string HelpText::make_subcommand(const CLI::App* command) const {
  return row(command->get_display_name(true), command->get_description());
}

}  // namespace modlock::cli
