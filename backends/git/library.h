#pragma once

#include <string>

namespace modlock::git {

// Starts libgit2 once for the process, because starting it takes milliseconds. From then on it accepts repositories of
// other owners, reads repositories without any outside configuration, and maps at most 16 MiB of packs.
void start_library();

// Returns libgit2's message for its last failure on this thread.
std::string library_reason();

}  // namespace modlock::git
