#pragma once

#include "plugin/resolve/module_tree.h"

namespace modlock {

// Fills constraints, commit and tag_prefix of a node from its `version` argument and our settings.
// Errors: CONSTRAINT_SYNTAX; CONFIG_PARSE (a constraint on a local, archive or pinned source; a commit id beside
// another constraint). `warnings` gets CONSTRAINT_UNBOUNDED and LOCK_UNENFORCED.
Result<void> apply_constraints(ModuleNode& node, const Settings& settings, Diagnostics& warnings);

}  // namespace modlock
