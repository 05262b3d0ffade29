#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/git/remote.h"
#include "backends/git/repository.h"

namespace modlock::git {

// Brings the requested commits into the repository and accepts those that the rules of FetchRequest allow; element i
// belongs to request i and holds the warnings. What was accepted before costs nothing; the rest one request, where
// every reference still gives its commit.
std::vector<Result<Diagnostics>> fetch_commits(const Remote& remote, const Repository& repository,
                                               std::span<const FetchRequest> requests, const Context& context);

}  // namespace modlock::git
