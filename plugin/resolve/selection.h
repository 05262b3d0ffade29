#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {

// The newest version of a listing that every constraint selects; without a constraint the newest release. Pure.
// Errors: NO_MATCHING_VERSION (there is no release; one constraint alone has no match: names it, the newest three
// versions, and how many tags were skipped and why); CONSTRAINT_CONFLICT (each has a match, together they have none:
// every constraint with its module and location, what to change, and the way out by `--resolution per-call`);
// VERSION_AMBIGUOUS (the selected version has two tags with different ids).
Result<ListedVersion> select_version(const Listing& listing, std::span<const ConstraintUse> uses,
                                     const std::string& package);

// A version of a listing that was chosen some other way. Errors: VERSION_AMBIGUOUS, as above.
Result<ListedVersion> check_unambiguous(const ListedVersion& chosen, std::span<const ConstraintUse> uses,
                                        const std::string& package);

// "1.2.5, 1.2.4, 1.2.3", at most three; "none".
std::string newest_versions(const Listing& listing);

}  // namespace modlock
