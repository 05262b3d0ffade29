#pragma once

#include <CLI/CLI.hpp>

#include "plugin/cli/command_line.h"

namespace modlock::cli {

// Adds -q and -v, which may also be written before a command.
void add_output_flags(CLI::App& app, CommonFlags& flags);
// Adds all commands. Those that the parsed line names also get their flags.
void add_commands(CLI::App& app, CommandLine& out);
// Returns whether a command has the flag --chdir; false for what is none.
bool has_chdir(std::string_view name);

}  // namespace modlock::cli
