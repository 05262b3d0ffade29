#pragma once

#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/install/manifest.h"

namespace modlock {

// The module tree of a root as far as it can be read without asking anybody: remote modules as locked_package() finds
// them. What is read nowhere has a node without directory. Errors: those of walk_modules() and read_manifest().
Result<ModuleTree> walk_offline_modules(RootRequest& root, const LockFile& lock, const Engine& engine,
                                        const Context& context);

// The same, and what is locked but nowhere on this machine is fetched. Errors: also those of make_plan().
Result<ModuleTree> walk_locked_modules(OpenRoot& open, const Engine& engine);

// The remote calls of a tree that were not read, by key.
std::vector<std::string> unread_modules(const ModuleTree& tree);

}  // namespace modlock
