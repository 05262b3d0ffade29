#pragma once

#include <span>
#include <string>
#include <vector>

#include "plugin/resolve/provider_plan.h"

namespace modlock {

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
