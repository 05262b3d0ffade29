#pragma once

#include <string_view>

namespace modlock::git {

// Why a tree entry may not be written, as the end of a sentence ("which no checkout may write"); empty where it may.
// Refused are "." and "..", names that are empty, hold a "/" or are longer than file systems take, and what a file
// system of some platform takes for ".git", or for ".gitmodules" where that is a link. `path` ends with `name`.
std::string_view entry_fault(std::string_view path, std::string_view name, bool is_link);

}  // namespace modlock::git
