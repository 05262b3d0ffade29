#pragma once

#include "plugin/resolve/version_resolver.h"

namespace modlock {

// Returns the new module blocks of a walked tree: one entry per resolved call. An entry that did not change keeps its
// form. Entries of hosts (a colon in the key) and of calls that were not inspected stay unchanged.
ModuleLocks new_module_locks(const PlanRequest& request, const ModuleTree& tree, const VersionResolver& resolver,
                             SourceFetcher& fetcher);

// Returns what an entry selects.
ChangeSide side_of(const ModuleLock& lock);

// Compares old blocks with new ones, by subject. `moved` warnings go to `diagnostics`.
std::vector<Change> list_changes(const PlanRequest& request, const ModuleTree& tree, const VersionResolver& resolver,
                                 const ModuleLocks& modules, Diagnostics& diagnostics);

}  // namespace modlock
