#pragma once

#include <string_view>
#include <vector>

#include "protocol/base/error.h"

namespace modlock {

// What the documents of the protocol say about codes.

// Every code, in the order of the enum.
std::vector<Code> all_codes();

// What a code means.
std::string_view meaning_of(Code code);

}  // namespace modlock
