#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace modlock {

// SHA-256 of files, by the path that each was written to: computed while the bytes passed, so that nobody has to read
// them again. A path that is not in it says nothing.
using FileDigests = std::unordered_map<std::string, std::array<std::uint8_t, 32>>;

}  // namespace modlock
