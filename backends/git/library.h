#pragma once

#include <filesystem>
#include <string>

namespace modlock::git {

// Makes libgit2 refuse to allocate more than 512 MiB at once, because a pack of a few bytes can claim objects of any
// size. Must be called before libgit2 is started.
void bound_allocations();

// Starts libgit2 once for the process, because starting it takes milliseconds. From then on it accepts repositories of
// other owners, reads repositories without any outside configuration, and maps at most 16 MiB of packs.
void start_library();

// Returns whether an index has entries of a conflict that git has not resolved. Also if it cannot be read: git itself
// reads more formats. false: there is no index.
bool may_have_conflicts(const std::filesystem::path& index);

// Returns libgit2's message for its last failure on this thread.
std::string library_reason();

}  // namespace modlock::git
