#pragma once

#include <string>

#include "plugin/cli/over_roots.h"

namespace modlock::cli {

// Output for the result of `lock/plan` or `update/plan`.

// Prints its changes, with --dry-run also as a unified diff, and hints.
void print_plan(const CommandLine& line, const std::string& root, const messages::LockPlanResult& result,
                const Diagnostics& diagnostics);

}  // namespace modlock::cli
