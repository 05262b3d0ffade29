#pragma once

#include <optional>

#include "backends/address/provider_address.h"

namespace modlock {

// OpenTofu lets an entry of registry.terraform.io/hashicorp stand for the provider of that name on its own registry
// (Locks.UpgradeFromPredecessorProject): that provider; nullopt: the address stands for itself alone.
std::optional<ProviderAddress> successor_of(const ProviderAddress& address);

// The address that may stand for this one; nullopt: none.
std::optional<ProviderAddress> predecessor_of(const ProviderAddress& address);

}  // namespace modlock
