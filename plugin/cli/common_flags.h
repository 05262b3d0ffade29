#pragma once

#include <CLI/CLI.hpp>

#include "plugin/cli/command_line.h"

// Flags that several commands have, and the variables of the environment that stand for them.
namespace modlock::cli {

void add_place_flags(CLI::App& command, CommonFlags& flags);
void add_store_flags(CLI::App& command, CommonFlags& flags);
void add_network_flags(CLI::App& command, CommonFlags& flags);
void add_implementation_flags(CLI::App& command, CommonFlags& flags);
// Each is taken when it is met: of a value and a file the later one wins.
void add_variable_flags(CLI::App& command, CommonFlags& flags);
void add_workspace_root_flag(CLI::App& command, CommonFlags& flags);
// What decides how a root is read.
void add_reading_flags(CLI::App& command, CommonFlags& flags);
// --recursive, and what is searched with it.
void add_recursive_flags(CLI::App& command, CommonFlags& flags);
void add_jobs_flag(CLI::App& command, CommonFlags& flags);
void add_root_flags(CLI::App& command, CommonFlags& flags);
void add_include_flag(CLI::App& command, CommonFlags& flags);
void add_override_flags(CLI::App& command, CommandLine& out);

}  // namespace modlock::cli
