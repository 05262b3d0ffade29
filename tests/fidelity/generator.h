#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/fidelity/case.h"
#include "tests/fidelity/offers.h"

namespace modlock::fidelity {

// How many cases are enough for each kind to be among them.
inline constexpr std::size_t kUsualCount = 300;

// The case of this number: always the same for the same seed, reader and offers.
Case make_case(std::uint64_t seed, std::size_t number, const Reader& reader, const std::vector<Offer>& offers,
               const test::ProviderRegistry& registry);

}  // namespace modlock::fidelity
