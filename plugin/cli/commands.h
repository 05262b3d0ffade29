#pragma once

#include "plugin/cli/command_line.h"
#include "plugin/cli/host.h"
#include "plugin/cli/terminal.h"
#include "plugin/install/verdict.h"

namespace modlock::cli {

// Each function runs one command over its roots and returns the exit code of the worst root. run() prints its error.
Result<int> run_lock(const CommandLine& line, const Host& host);  // lock and upgrade
Result<int> run_update(const CommandLine& line, const Host& host);
Result<int> run_outdated(const CommandLine& line, const Host& host);  // `update --list`, too
Result<int> run_install(const CommandLine& line, const Host& host);
Result<int> run_verify(const CommandLine& line, const Host& host);
struct RootOutcome;
class RootOutput;
// Sets result and next step of a root: those of its worst verdict, or of the worst diagnostic.
void describe_verdicts(const std::vector<messages::Verdict>& verdicts, const Diagnostics& diagnostics,
                       RootOutcome& outcome);
// Adds the verdicts of a root, and returns its outcome.
RootOutcome verify_root(const CommonFlags& flags, const Host& host, RootOutput& output,
                        const RootAnswer<messages::LockVerifyResult>& asked);
// Returns locked_text() of a verdict; empty: not locked.
std::string locked_version(const messages::Verdict& verdict);
// Returns "12 verified (1 update available), 1 tampered, 2 not locked".
std::string verdict_sum(const std::vector<messages::Verdict>& verdicts);
Color verdict_color(VerdictKind kind);
std::string_view verdict_text(VerdictKind kind);  // "verified" if the subject is held
// Verifies and looks for newer versions; returns the exit code of run_verify().
Result<int> run_status(const CommandLine& line, const Host& host);
Result<int> run_inspect(const CommandLine& line, const Host& host);
Result<int> run_graph(const CommandLine& line, const Host& host);
Result<int> run_diff(const CommandLine& line, const Host& host);
Result<int> run_doctor(const CommandLine& line, const Host& host);
Result<int> run_explain(const CommandLine& line, const Host& host);
Result<int> run_versions(const CommandLine& line, const Host& host);
Result<int> run_bundle_create(const CommandLine& line, const Host& host);
Result<int> run_bundle_pull(const CommandLine& line, const Host& host);
Result<int> run_bundle_push(const CommandLine& line, const Host& host);
Result<int> run_bundle_unpack(const CommandLine& line, const Host& host);
Result<int> run_bundle_read(const CommandLine& line, const Host& host);  // list and verify
Result<int> run_cache_info(const CommandLine& line, const Host& host);
Result<int> run_cache_prune(const CommandLine& line, const Host& host);
Result<int> run_call(const CommandLine& line, const Host& host);
Result<int> run_sbom(const CommandLine& line, const Host& host);
// Merges three lock files without configuration, network or host. Returns 0, 1 if a conflict is left, or 2 if a file
// cannot be read or written; then nothing has changed.
Result<int> run_merge(const CommandLine& line);
// Writes the files that the flags name, or that the user accepts on a terminal, and overwrites nothing. Needs no host.
// Returns 0, 2 if nothing is named and there is no terminal, or the exit code of the error.
Result<int> run_init(const CommandLine& line);
Result<int> run_completion(const CommandLine& line);  // needs no host
// Returns "2 installed, 1 already in place.".
std::string installed_text(const messages::ModulesInstallResult& result);
// Returns how to select a newer version, or the command of Terragrunt if the root is a unit, or its copy of one.
std::string select_hint(const RootOutput& output);
// Returns the params of `modules/install`.
messages::ModulesInstallParams install_params(const CommandLine& line, const Host& host, const std::string& root);
// Checks that the lock files are current, installs what they lock, runs the command of the client if there is one, and
// verifies. Returns the exit code of the worst root; those of the client are less bad than our own.
Result<int> run_ci(const CommandLine& line, const Host& host);
// Returns the exit code of the child command; before it starts, as the others.
Result<int> run_mirror(const CommandLine& line, const Host& host);
// Prints the verdicts on a unit of Terragrunt that are problems, and returns the worst exit code.
int print_wrong(const std::vector<messages::Verdict>& verdicts, const std::string& unit, const Printer& print);
// Sets where a hook reads and what it may request, before the host starts. Errors: INVALID_PARAMS if a path is not a
// directory, or the unit is not below the root.
Result<void> prepare_hook(CommandLine& line);
Result<int> run_hook(const CommandLine& line, const Host& host);
// The protocol itself and its description; they need no host.
Result<int> run_serve(const CommandLine& line);
// Serves the Model Context Protocol until the end of input. Returns 0, or 2 for a terminal or a root that does not
// exist.
Result<int> run_mcp(const CommandLine& line);
Result<int> run_schema(const CommandLine& line);

// Returns how many of the words name the command ({"bundle", "push", …}: 2), or 0 if the command has no --chdir.
std::size_t words_before_chdir(const std::vector<std::string>& words);
// Returns the completions of the last of these words, which follow the name of the program. Each is the whole word,
// and after a tab its description, if it has one. Subjects come from the lock file, versions of a subject from it and
// from cached listings: no network request is sent. The first line is ":files" or ":directories" if the shell completes
// the word, or what follows its first "=". Empty if there is none, or if anything fails.
std::vector<std::string> complete(const std::vector<std::string>& words);
// Prints them, one per line, and nothing on stderr. Called by the shells, for which `completion` prints a script.
void run_complete(const std::vector<std::string>& words);

// Parses the command line, runs it, and stops it on SIGINT, SIGTERM and SIGHUP (exit code 128 + number).
int run(int argc, const char* const* argv);
// Prints an exception that nothing else has caught; the exit code.
int end_unexpectedly(const std::exception& caught);

}  // namespace modlock::cli
