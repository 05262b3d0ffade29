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

}  // namespace modlock::git
