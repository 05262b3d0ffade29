#pragma once

#include <string>
#include <vector>

#include "tests/fidelity/case.h"
#include "tests/fidelity/chance.h"
#include "tests/fidelity/requirements.h"

namespace modlock::fidelity {

// Writes the lock file that a case begins with: of `requirements` what somebody may have locked before, with the right
// hashes or with others, and entries that nothing requires. Adds to files and marks of `to`.
void write_prior_lock(Chance& chance, const Reader& reader, const test::ProviderRegistry& registry,
                      const std::vector<Requirement>& requirements, Case& to);

}  // namespace modlock::fidelity
