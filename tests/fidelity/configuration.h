#pragma once

#include <vector>

#include "tests/fidelity/case.h"
#include "tests/fidelity/chance.h"
#include "tests/fidelity/requirements.h"

namespace modlock::fidelity {

// Root module and local modules that together require all this, in the many ways to say so: both syntaxes, files that
// override others, what is implied by other blocks. Adds to files, marks and flags of `to`.
void write_configuration(Chance& chance, const Reader& reader, const std::vector<Requirement>& requirements, Case& to);

// A test file of the root module, whose module requires this as well.
void write_test_file(Chance& chance, const Reader& reader, const Requirement& requirement, Case& to);

}  // namespace modlock::fidelity
