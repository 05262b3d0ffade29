#pragma once

#include <optional>
#include <string>

#include "plugin/cli/over_roots.h"

namespace modlock::cli {

// Output for the result of `lock/plan` or `update/plan`.

// Prints its changes, with --dry-run also as a unified diff, and hints.
void print_plan(const CommandLine& line, const std::string& root, const messages::LockPlanResult& result,
                const Diagnostics& diagnostics);

using AskedPlan = RootAnswer<messages::LockPlanResult>;
// Writes a plan, unless --dry-run or --frozen is set, and returns it, or the error of the write.
AskedPlan write_plan(const CommandLine& line, const Host& host, const std::string& root, AskedPlan asked);

// Sets the state of a root whose plan was interrupted before anything was written.
RootOutcome not_written(RootOutcome outcome);

// Installs the locked versions if --install is set, and prints their number. `state` is the state of the lock file.
// Returns the outcome of a root whose installation failed; nullopt: it did not.
std::optional<RootOutcome> install_after(const CommandLine& line, const Host& host, const std::string& root,
                                         const std::string& state);

// Returns what installs the versions that a written plan changed. --install has already installed modules.
NextSteps steps_after(const CommandLine& line, const Host& host, const std::string& root,
                      const messages::LockPlanResult& result);

}  // namespace modlock::cli
