#pragma once

#include <string>

#include "backends/backend.h"
#include "backends/git/remote.h"
#include "backends/git/repository.h"

namespace modlock::git {

// Implements GitAbilities::verify_signature(). git verifies the signature in the cached repository with our
// configuration, and ssh-keygen or gpg with only the keys of the demand. The tag object must have the name of the tag
// and the commit as its target, so that a signed tag under a new name is rejected. A key must be valid now. No request
// if the process knows the references and the repository has the objects. Errors: SIGNATURE_INVALID; TOOL_MISSING;
// those of Backend.
Result<std::string> verify_signature(const Remote& remote, const Repository& repository, const FetchRequest& request,
                                     const SignatureDemand& demand, const Context& context);

}  // namespace modlock::git
