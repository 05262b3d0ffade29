#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/address/provider_address.h"
#include "plugin/resolve/provider_plan.h"

namespace modlock {

// OpenTofu lets an entry of registry.terraform.io/hashicorp stand for the provider of that name on its own registry
// (Locks.UpgradeFromPredecessorProject): that provider; nullopt: the address stands for itself alone.
std::optional<ProviderAddress> successor_of(const ProviderAddress& address);

// The address that may stand for this one; nullopt: none.
std::optional<ProviderAddress> predecessor_of(const ProviderAddress& address);

// What an entry selects.
ChangeSide side_of(const ProviderLock& lock);

// The entries of the request against new ones, by address.
std::vector<Change> list_provider_changes(const ProviderPlanRequest& request, const ProviderLocks& after);

// What would have to change, as far as that is known without asking anybody: an address that comes or goes, a version
// that its constraints exclude. `prior`: the entries of the request, and those that some of them stand for besides. As
// `init -lockfile=readonly` compares addresses (Locks.EqualProviderAddress), one that an entry stands for and nobody
// needs is in the way.
std::vector<Change> changes_under_frozen(const ProviderPlanRequest& request, const ProviderLocks& prior);

// What is to be known of a plan for providers; clients warn of most of it, too.

// PROVIDER_AMBIGUOUS for each type of which several are needed in the namespaces hashicorp and opentofu, on whatever
// hosts: `init` of OpenTofu, for which registries and namespaces were renamed, takes that for a likely mistake. Nothing
// with HashSet::providers_lock and for Terraform.
Diagnostics ambiguous_providers(const ProviderPlanRequest& request);

// REGISTRY_NOTICE for each thing that a registry says of a provider beside its versions.
Diagnostics registry_notices(const ProviderNeed& need, const ProviderListing& listing);

// SETTING_UNSERVED for each version that is newly chosen although an age is asked for, which providers are not held to.
Diagnostics ages_not_asked(const std::vector<Change>& changes);

// LOCK_INCOMPLETE: of these providers the lock has hashes for these platforms alone.
Diagnostic incomplete_lock(const std::vector<std::string>& names, std::span<const Platform> platforms);

}  // namespace modlock
