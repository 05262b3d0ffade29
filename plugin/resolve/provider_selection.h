#pragma once

#include "backends/providers/provider_source.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/provider_tree.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// The newest version of a listing that every constraint allows. Errors, in OpenTofu's words: NO_MATCHING_VERSION (a
// single constraint that no version satisfies, or nothing but prereleases); CONSTRAINT_CONFLICT where constraints that
// each allow something leave nothing together, with a smallest set of those as `related`.
Result<ProviderVersion> select_version(const ProviderNeed& need, const ProviderListing& listing);

// That version of a listing. Errors: CONSTRAINT_CONFLICT with the constraints that exclude it as `related`;
// NO_MATCHING_VERSION where it is not offered.
Result<ProviderVersion> select_wanted(const ProviderNeed& need, const ProviderListing& listing,
                                      const ProviderVersion& wanted);

// CONSTRAINT_CONFLICT, in the client's words: what is locked is no longer allowed, with the constraints that exclude
// it.
Error excluded_version(const ProviderNeed& need, const ProviderVersion& locked, ClientKind tool);

// NOT_FOUND (locked_thing_gone), in the client's words: nobody lists what is locked.
Error vanished_version(const ProviderNeed& need, const ProviderVersion& locked);

}  // namespace modlock
