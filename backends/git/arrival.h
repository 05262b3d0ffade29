#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/git/remote.h"
#include "backends/git/repository.h"

namespace modlock::git {

// Brings the wished commits into the repository and accepts those that the rules of FetchWish allow; element i belongs
// to wish i and holds the warnings. What was accepted before costs nothing; the rest one request, where every reference
// still gives its commit.
std::vector<Result<Diagnostics>> bring(const Remote& remote, const Repository& repository,
                                       std::span<const FetchWish> wishes, const Context& context);

// Makes sure that a commit named by itself lies on a branch or tag of the remote. Errors: HASH_MISMATCH where it does
// not; NOT_FOUND where the remote does not know it; those of Backend.
Result<void> check_commit(const Remote& remote, const Repository& repository, const std::string& commit,
                          const Context& context);

// Brings a commit that an accepted tree names as its submodule (submodules.h says why that is proof enough); one that
// is there already costs nothing. Errors: NOT_FOUND where the remote does not know it; those of Backend.
Result<void> bring_submodule(const Remote& remote, const Repository& repository, const std::string& commit,
                             const Context& context);

}  // namespace modlock::git
