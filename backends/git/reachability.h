#pragma once

#include <string>

#include "backends/git/remote.h"
#include "backends/git/repository.h"

namespace modlock::git {

// Whether a branch or tag of the remote leads to the commit, which must have arrived in `repository`. That a server
// hands a commit out is no proof: hosts serve every fork's commits from one store. One or two requests, for commits
// without trees where the server can leave them out. Errors: those of Backend.
Result<bool> is_reachable(const Remote& remote, const Repository& repository, const std::string& commit,
                          const Context& context);

}  // namespace modlock::git
