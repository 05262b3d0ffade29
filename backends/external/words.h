#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/source.h"

namespace modlock::external {

// What a backend is told of a source and nobody else may read: the password of its URL, its user name (but ssh's) and
// the values of the query arguments that the identity lacks. Names and values of less than four characters are left
// out: taking them from every text would make it unreadable.
std::vector<std::string> secrets_of(const SourceAddress& source);

// What a log line or a message may quote of what a program said: one line of valid UTF-8 and at most 500 bytes, with
// "…" for the secrets, for the user-info and the query of any URL, and for what is left out at the end. Control
// characters appear as "\xNN".
std::string quotable(std::string_view text, const std::set<std::string>& secrets);

}  // namespace modlock::external
