#pragma once

#include <optional>
#include <string>

#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {

// Why a lock entry does not answer a call, in words; nullopt where it does: its source is the call's, and what the call
// asks for (constraints, a commit id) allows what it locks.
std::optional<std::string> why_not_answered(const ModuleNode& node, const ModuleLock& entry);

}  // namespace modlock
