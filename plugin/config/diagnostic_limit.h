#pragma once

#include <cstddef>

#include "protocol/base/error.h"

namespace modlock {

// What is reported of one module, beside errors of syntax. Where the places from `from` on hold more, the last one says
// how many are left out. Words in messages that are longer than 100 characters are cut, as a name may have any length.
void limit_diagnostics(Diagnostics& diagnostics, std::size_t from = 0);

inline constexpr std::size_t kMostDiagnostics = 100;

// Whether an error only says that something is missing which could not be read, and why was reported before: it has no
// message, and is not to be reported.
bool is_reported_already(const Error& error);

}  // namespace modlock
