#pragma once

#include <memory>

#include "backends/backend.h"

namespace modlock {

// `git` for sources that a server names (a registry's answer, X-Terraform-Get): a repository on this machine is
// SOURCE_DENIED, unless git's own protocol.file.allow lets a repository name one as a submodule. OpenTofu follows
// there.
std::unique_ptr<Backend> make_redirected_git_backend(std::shared_ptr<Backend> git);

}  // namespace modlock
