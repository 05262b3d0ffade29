#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/address/provider_address.h"
#include "plugin/resolve/provider_plan.h"

namespace modlock {

// OpenTofu uses an entry of registry.terraform.io/hashicorp also for the provider of that name on its own registry
// (Locks.UpgradeFromPredecessorProject). Returns that provider, or nullopt if the address has no successor.
std::optional<ProviderAddress> successor_of(const ProviderAddress& address);

// Returns the address whose entry may also be used for this one; nullopt: none.
std::optional<ProviderAddress> predecessor_of(const ProviderAddress& address);

// Returns the subject of an entry.
std::string subject_of(const ProviderAddress& address);
// Returns what an entry selects.
ChangeSide side_of(const ProviderLock& lock);
// Returns the constraints of an entry; nullopt: it has none.
std::optional<std::string> constraints_of(const ProviderLock& lock);

// Compares the entries of the request with new ones, by address.
std::vector<Change> list_provider_changes(const ProviderPlanRequest& request, const ProviderLocks& after);

// Returns the required changes that are known without network access: an address that is added or removed, a version
// that its constraints exclude. `prior`: the entries of the request, and those of their successors. `init
// -lockfile=readonly` compares addresses (Locks.EqualProviderAddress), so an unneeded successor of an entry is also an
// obstacle.
std::vector<Change> changes_under_frozen(const ProviderPlanRequest& request, const ProviderLocks& prior);

// Diagnostics of a provider plan; clients warn about most of them, too.

// Returns PROVIDER_AMBIGUOUS for each type if several providers of it are needed in the namespaces hashicorp and
// opentofu, on any host. `init` of OpenTofu reports that as a likely mistake, because registries and namespaces were
// renamed. Empty with HashSet::providers_lock and for Terraform.
Diagnostics ambiguous_providers(const ProviderPlanRequest& request);

// Returns REGISTRY_NOTICE for each notice that a registry lists with the versions of a provider.
Diagnostics registry_notices(const ProviderNeed& need, const ProviderListing& listing);

// Returns LOCK_INCOMPLETE: the lock contains hashes of these providers only for these platforms.
Diagnostic incomplete_lock(const std::vector<std::string>& names, std::span<const Platform> platforms);

}  // namespace modlock
