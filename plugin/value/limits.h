#pragma once

#include <cstddef>

namespace modlock::eval {

// How large a value may become. A collection holds at most kMaxElements, a string kMaxTextBytes.
inline constexpr std::size_t kMaxElements = 1'000'000;
inline constexpr std::size_t kMaxTextBytes = 64U << 20U;

}  // namespace modlock::eval
