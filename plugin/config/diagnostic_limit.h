#pragma once

#include <cstddef>

#include "protocol/base/error.h"

namespace modlock {

// Limits the diagnostics of one module, except syntax errors. If there are too many from index `from` on, the last one
// states how many are left out. Words in messages that are longer than 100 characters are cut, because a name may have
// any length.
void limit_diagnostics(Diagnostics& diagnostics, std::size_t from = 0);

inline constexpr std::size_t kMostDiagnostics = 100;

// Whether an error only follows from something that could not be read and was reported before. It has no message and
// must not be reported.
bool is_reported_already(const Error& error);

}  // namespace modlock
