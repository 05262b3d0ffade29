#pragma once

#include "plugin/install/manifest.h"
#include "plugin/server/root_request.h"

namespace modlock {

// The module tree of a root as far as it can be read without asking anybody: remote modules where they are installed,
// or in the store as the lock names them. What is read nowhere has a node without directory. Errors: those of
// walk_modules() and read_manifest().
Result<ModuleTree> walk_known_modules(RootRequest& root, const LockFile& lock, const Service& service,
                                      const Context& context);

// The remote calls of a tree that were not read, by key.
std::vector<std::string> unread_modules(const ModuleTree& tree);

}  // namespace modlock
