#pragma once

#include <string>
#include <string_view>

#include "backends/address/scrub.h"

namespace modlock::external {

// What a log line or a message may quote of what a program said: one line of valid UTF-8 and at most 500 bytes, with
// "…" for the secrets, for the user-info and the query of any URL, and for what is left out at the end. Control
// characters appear as "\xNN".
std::string quotable(std::string_view text, const Secrets& secrets);

}  // namespace modlock::external
