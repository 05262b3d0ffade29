#pragma once

#include <string>

#include "plugin/cli/over_roots.h"

namespace modlock::cli {

// What commands do with the result of `lock/plan` or `update/plan`.

// Prints its changes, with --dry-run as a unified diff too, and what to do with them.
void print_plan(const CommandLine& line, const std::string& root, const messages::LockPlanResult& result,
                const Diagnostics& diagnostics);

}  // namespace modlock::cli
