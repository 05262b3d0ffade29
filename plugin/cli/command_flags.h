#pragma once

#include <CLI/CLI.hpp>

#include "plugin/cli/command_line.h"

namespace modlock::cli {

// Adds -q and -v, which may also be written before a command.
void add_output_flags(CLI::App& app, CommonFlags& flags);
// Adds all commands. Those that the parsed line names also get their flags.
void add_commands(CLI::App& app, CommandLine& out);
// Returns how many of the words name the command ({"bundle", "push", …}: 2), or 0 if the command has no --chdir.
std::size_t words_before_chdir(const std::vector<std::string>& words);

}  // namespace modlock::cli
