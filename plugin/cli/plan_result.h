#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/cli/over_roots.h"

namespace modlock::cli {

// Output for the result of `lock/plan` or `update/plan`.

// Adds its changes, with --dry-run also as a unified diff, and hints.
void print_plan(const CommandLine& line, RootOutput& output, const messages::LockPlanResult& result,
                const Diagnostics& diagnostics);

using PlanAnswer = RootAnswer<messages::LockPlanResult>;
using Texts = std::vector<messages::Document>;

// A plan that was written, and the differences between the packages before and after it.
struct WrittenUpdate {
  Result<messages::LockPlanResult> result;
  CallDetails details = {};
  Result<messages::UpdateDiffResult> diff = {};
  bool is_since_commit = true;  // the lock files were those of the last commit before
};

// Writes a plan, unless --dry-run or --frozen is set, and compares the packages, except for `lock`. The result is an
// error if the plan or its write is. `committed` are earlier texts of files that were changed before this command.
WrittenUpdate write_update(const CommandLine& line, const Host& host, const std::string& root, PlanAnswer asked,
                           const Texts& committed = {});

// Adds which modules have changes to read, and the command that prints them.
void print_diff_summary(const CommandLine& line, RootOutput& output, const WrittenUpdate& written);

// Returns "changed", "would change" (with --dry-run) or "up to date".
std::string result_words(const CommandLine& line, const messages::LockPlanResult& result);

// Adds the error of moved tags whose locked content a plan keeps, if there are any.
RootOutcome add_held(RootOutcome outcome, const CommandLine& line, RootOutput& output,
                     const messages::LockPlanResult& result);

// Installs the locked versions if --install is set, and adds their number. `state` is the state of the lock file.
// Returns the outcome of a root whose installation failed; nullopt: it did not.
std::optional<RootOutcome> install_after(const CommandLine& line, const Host& host, RootOutput& output,
                                         const std::string& state);

// Returns what installs the versions that a written plan changed. --install has already installed modules.
NextSteps steps_after(const CommandLine& line, const Host& host, const std::string& root,
                      const messages::LockPlanResult& result);

}  // namespace modlock::cli
