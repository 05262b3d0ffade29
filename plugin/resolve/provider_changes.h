#pragma once

#include <vector>

#include "plugin/resolve/provider_plan.h"

namespace modlock {

// What an entry selects.
ChangeSide side_of(const ProviderLock& lock);

// The entries of the request against new ones, by address.
std::vector<Change> list_provider_changes(const ProviderPlanRequest& request, const ProviderLocks& after);

// What would have to change, as far as that is known without asking anybody: an address that comes or goes, a version
// that its constraints exclude. `prior`: the entries of the request, and those that some of them stand for besides. As
// `init -lockfile=readonly` compares addresses (Locks.EqualProviderAddress), one that an entry stands for and nobody
// needs is in the way.
std::vector<Change> changes_under_frozen(const ProviderPlanRequest& request, const ProviderLocks& prior);

}  // namespace modlock
