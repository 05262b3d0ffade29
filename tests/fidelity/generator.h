#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/fidelity/case.h"
#include "tests/fidelity/offers.h"

namespace modlock::fidelity {

// The case of this number: always the same for the same seed, reader and offers.
Case make_case(std::uint64_t seed, std::size_t number, const Reader& reader, const std::vector<Offer>& offers,
               const test::ProviderRegistry& registry);

}  // namespace modlock::fidelity
