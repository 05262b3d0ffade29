#pragma once

#include <span>

#include "backends/providers/provider_source.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/provider_tree.h"
#include "plugin/resolve/selection.h"
#include "plugin/settings/settings.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// Returns the newest version of a listing that every constraint and the age of the gate allow. The age of the locked
// version does not matter. Errors, in OpenTofu's words: NO_MATCHING_VERSION (a single constraint that no version
// satisfies, or only prereleases exist; also too_young()); CONSTRAINT_CONFLICT if each constraint allows a version but
// all together allow none, with a smallest such set as `related`; RELEASE_DENIED if rules deny every version that they
// allow.
Result<ProviderVersion> select_version(const ProviderNeed& need, const ProviderListing& listing,
                                       std::span<const DenyRule> rules = {}, const ReleaseGate& gate = {},
                                       const ProviderVersion* locked = nullptr);

// Returns the constraint that allows exactly one version, as written; null: none does.
const ProviderConstraintUse* exact_constraint(const ProviderNeed& need);

// Returns that version of a listing. Errors: CONSTRAINT_CONFLICT with the constraints that exclude it as `related`;
// NO_MATCHING_VERSION if it is not offered.
Result<ProviderVersion> select_wanted(const ProviderNeed& need, const ProviderListing& listing,
                                      const ProviderVersion& wanted);

// Checks a locked or wanted version. Errors: RELEASE_DENIED.
Result<void> check_provider_allowed(const ProviderAddress& address, const ProviderVersion& version,
                                    std::span<const std::string> hashes, std::span<const DenyRule> rules);

// Returns CONSTRAINT_CONFLICT, in the client's words: the locked version is no longer allowed, with the constraints
// that exclude it.
Error excluded_version(const ProviderNeed& need, const ProviderVersion& locked, ClientKind tool);

// Returns NOT_FOUND (Reason::locked_thing_gone), in the client's words: the locked version is no longer listed.
Error vanished_version(const ProviderNeed& need, const ProviderVersion& locked);

}  // namespace modlock
