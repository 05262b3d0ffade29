#pragma once

#include <CLI/CLI.hpp>

#include "plugin/cli/command_line.h"

// The flags and positionals of each command, and the targets of their values.
namespace modlock::cli {

void lock_flags(CLI::App& command, CommandLine& out);
void upgrade_flags(CLI::App& command, CommandLine& out);
void update_flags(CLI::App& command, CommandLine& out);
void diff_flags(CLI::App& command, CommandLine& out);
void outdated_flags(CLI::App& command, CommandLine& out);
void install_flags(CLI::App& command, CommandLine& out);
void ci_flags(CLI::App& command, CommandLine& out);
void verify_flags(CLI::App& command, CommandLine& out);
void status_flags(CLI::App& command, CommandLine& out);
void inspect_flags(CLI::App& command, CommandLine& out);
void graph_flags(CLI::App& command, CommandLine& out);
void versions_flags(CLI::App& command, CommandLine& out);
void explain_flags(CLI::App& command, CommandLine& out);
void sbom_flags(CLI::App& command, CommandLine& out);
void merge_flags(CLI::App& command, CommandLine& out);
void bundle_create_flags(CLI::App& command, CommandLine& out);
void bundle_pull_flags(CLI::App& command, CommandLine& out);
void bundle_push_flags(CLI::App& command, CommandLine& out);
void bundle_unpack_flags(CLI::App& command, CommandLine& out);
void bundle_read_flags(CLI::App& command, CommandLine& out);
void cache_info_flags(CLI::App& command, CommandLine& out);
void cache_prune_flags(CLI::App& command, CommandLine& out);
void mirror_flags(CLI::App& command, CommandLine& out);
void hook_flags(CLI::App& command, CommandLine& out);
void doctor_flags(CLI::App& command, CommandLine& out);
void help_flags(CLI::App& command, CommandLine& out);
void version_flags(CLI::App& command, CommandLine& out);
void init_flags(CLI::App& command, CommandLine& out);
void completion_flags(CLI::App& command, CommandLine& out);
void mcp_flags(CLI::App& command, CommandLine& out);
void serve_flags(CLI::App& command, CommandLine& out);
void call_flags(CLI::App& command, CommandLine& out);
void schema_flags(CLI::App& command, CommandLine& out);

// Adds all commands. Those that the parsed line names also get their flags.
void add_commands(CLI::App& app, CommandLine& out);

}  // namespace modlock::cli
