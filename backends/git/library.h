#pragma once

#include <string>

namespace modlock::git {

// Starts libgit2, once for the process, for starting it anew costs milliseconds. From then on it takes repositories of
// other owners, no configuration outside a repository has a say in reading one, and it maps 16 MiB of packs at most.
void start_library();

// What libgit2 says of its last failure on this thread.
std::string library_reason();

}  // namespace modlock::git
