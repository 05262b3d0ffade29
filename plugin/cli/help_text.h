#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace modlock::cli {

// The headings of flags and commands that only --help-all shows.
inline constexpr const char* kRareFlags = "Rarely used flags";
inline constexpr const char* kRareCommands = "Rarely used commands";

// Returns "--from", "DIR" or "SUBJECT=VERSION". CLI11 2.2 and later has no names with "=": that one is a type name.
std::string name_of(const CLI::Option& option, bool is_positional = false);

// Formats --help and --help-all for the terminal, in 80 to 100 columns.
class HelpText final : public CLI::Formatter {
 public:
  void show_rare() { shows_rare_ = true; }

  std::string make_description(const CLI::App* app) const override;
  std::string make_group(std::string group, bool is_positional, std::vector<const CLI::Option*> options) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
  std::string make_subcommand(const CLI::App* command) const override;

 private:
  bool shows_rare_ = false;
};

}  // namespace modlock::cli
