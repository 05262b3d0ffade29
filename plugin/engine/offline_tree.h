#pragma once

#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/install/manifest.h"

namespace modlock {

// Returns the module tree of a root, that of `open` or one like it, as far as it can be read without network access:
// remote modules as locked_package() finds them. A module that is not available has a node without directory. Errors:
// those of walk_modules() and read_manifest().
Result<ModuleTree> walk_offline_modules(RootRequest& root, const OpenRoot& open);

// The same, but fetches locked packages that are not on this machine. `skipped`: of PlanRequest. Errors: also those of
// make_plan().
Result<ModuleTree> walk_locked_modules(OpenRoot& open, Diagnostics* skipped = nullptr);

// Returns the keys of remote calls of a tree that were not read.
std::vector<std::string> unread_modules(const ModuleTree& tree);

}  // namespace modlock
