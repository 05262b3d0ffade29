#pragma once

#include "plugin/cli/command_line.h"
#include "plugin/cli/host.h"
#include "plugin/cli/terminal.h"
#include "plugin/install/verdict.h"

namespace modlock::cli {

// Each function runs one command over its roots and returns the exit code of the worst root.
int run_lock(const CommandLine& line, const Host& host);  // lock and upgrade
int run_update(const CommandLine& line, const Host& host);
int run_outdated(const CommandLine& line, const Host& host);  // `update --list`, too
int run_install(const CommandLine& line, const Host& host);
int run_verify(const CommandLine& line, const Host& host);
struct RootOutcome;
// Sets result and next step of a root: those of its worst verdict, or of the worst diagnostic.
void describe_verdicts(const std::vector<messages::Verdict>& verdicts, const Diagnostics& diagnostics,
                       RootOutcome& outcome);
// Prints the verdicts of a root, and returns its outcome.
RootOutcome verify_root(const CommonFlags& flags, const Host& host, const std::string& root,
                        const RootAnswer<messages::LockVerifyResult>& asked);
// Returns locked_text() of a verdict; empty: not locked.
std::string locked_version(const messages::Verdict& verdict);
// Returns "12 verified (1 update available), 1 tampered, 2 not locked".
std::string verdict_sum(const std::vector<messages::Verdict>& verdicts);
Color verdict_color(VerdictKind kind);
std::string_view verdict_text(VerdictKind kind);  // "verified" if the subject is held
// Returns the exit code of `verify` for one root.
int verify_exit_code(const std::vector<messages::Verdict>& verdicts, const Diagnostics& diagnostics);
// Verifies and looks for newer versions; returns the exit code of run_verify().
int run_status(const CommandLine& line, const Host& host);
int run_inspect(const CommandLine& line, const Host& host);
int run_graph(const CommandLine& line, const Host& host);
int run_diff(const CommandLine& line, const Host& host);
int run_doctor(const CommandLine& line, const Host& host);
int run_explain(const CommandLine& line, const Host& host);
int run_find(const CommandLine& line, const Host& host);  // explain --find
// explain --credentials: for the client from the options, the environment or PATH.
int run_explain_credentials(const CommandLine& line, const Host& host);
int run_versions(const CommandLine& line, const Host& host);
int run_bundle_create(const CommandLine& line, const Host& host);
int run_bundle_pull(const CommandLine& line, const Host& host);
int run_bundle_push(const CommandLine& line, const Host& host);
int run_bundle_unpack(const CommandLine& line, const Host& host);
int run_bundle_list(const CommandLine& line, const Host& host);
int run_bundle_verify(const CommandLine& line, const Host& host);
int run_cache_info(const CommandLine& line, const Host& host);
int run_cache_prune(const CommandLine& line, const Host& host);
int run_call(const CommandLine& line, const Host& host);
int run_sbom(const CommandLine& line, const Host& host);
// Merges three lock files without configuration, network or host. Returns 0, 1 if a conflict is left, or 2 if a file
// cannot be read or written; then nothing has changed.
int run_merge(const CommandLine& line);
// Writes the files that the flags name, or that the user accepts on a terminal, and overwrites nothing. Needs no host.
// Returns 0, 2 if nothing is named and there is no terminal, or the exit code of the error.
int run_init(const CommandLine& line);
int run_completion(const CommandLine& line);  // needs no host
// Returns "2 installed, 1 already in place.".
std::string installed_text(const messages::ModulesInstallResult& result);
// What to do after a list of newer versions.
// Returns how to select one, or the command of Terragrunt if the root is a unit, or its copy of one.
std::string select_hint(const std::string& root);
// Returns the params of `modules/install`.
messages::ModulesInstallParams install_params(const CommandLine& line, const Host& host, const std::string& root);
// Checks that the lock files are current, installs what they lock, runs the command of the client if there is one, and
// verifies. Returns the exit code of the worst root; those of the client are less bad than our own.
int run_ci(const CommandLine& line, const Host& host);
// Returns the exit code of the child command; before it starts, as the others.
int run_mirror(const CommandLine& line, const Host& host);
// Prints the verdicts on a unit of Terragrunt that are problems, and returns the worst exit code.
int print_wrong(const std::vector<messages::Verdict>& verdicts, const std::string& unit);
// Sets where a hook reads and what it may request, before the host starts. Errors: INVALID_PARAMS if a path is not a
// directory, or the unit is not below the root.
Result<void> prepare_hook(CommandLine& line);
int run_hook(const CommandLine& line, const Host& host);
// The protocol itself and its description; they need no host.
int run_serve(const CommandLine& line);
// Serves the Model Context Protocol until the end of input. Returns 0, or 2 for a terminal or a root that does not
// exist.
int run_mcp(const CommandLine& line);
int run_schema(const CommandLine& line);

// Parses the command line, runs it, and stops it on SIGINT, SIGTERM and SIGHUP (exit code 128 + number).
int run(int argc, const char* const* argv);
// Prints an exception that nothing else has caught; the exit code.
int end_unexpectedly(const std::exception& caught);

}  // namespace modlock::cli
