#pragma once

#include "plugin/resolve/version_resolver.h"

namespace modlock {

// The new module blocks of a walked tree: an entry for every resolved call, in a form that keeps what the lock had
// where nothing about it changed; entries of hosts (a colon in the key) and of what nobody looked at stay as they are.
ModuleLocks new_module_locks(const PlanRequest& request, const ModuleTree& tree, const VersionResolver& resolver,
                             SourceFetcher& fetcher);

// What an entry selects.
ChangeSide side_of(const ModuleLock& lock);

// Old blocks against new ones, by subject. `moved` warnings go to `diagnostics`.
std::vector<Change> list_changes(const PlanRequest& request, const ModuleTree& tree, const VersionResolver& resolver,
                                 const ModuleLocks& modules, Diagnostics& diagnostics);

}  // namespace modlock
