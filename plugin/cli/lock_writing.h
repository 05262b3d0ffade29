#pragma once

#include <string>

#include "plugin/cli/host.h"

namespace modlock::cli {

// Writes what a result of `lock/plan` proposes for the root, which is held meanwhile, and keeps the copy of the module
// blocks in its data directory; a copy that cannot be kept is a warning. Errors: those of find_data_directory(),
// hold_root() and apply_edits().
Result<void> write_planned_lock(const CommonFlags& flags, const Host& host, const std::string& root,
                                const messages::LockPlanResult& result);

}  // namespace modlock::cli
