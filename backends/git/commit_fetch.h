#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/git/remote.h"
#include "backends/git/repository.h"

namespace modlock::git {

// Backend::commit_distance(): one request, two where the answer is no. nullopt where anything fails.
std::optional<CommitDistance> find_descent(const Remote& remote, const Repository& repository, const std::string& older,
                                           const std::string& newer, const Context& context);

// What a revision (is_revision() of references.h) names in the history of all branches and tags. One or two requests.
// Errors: NOT_FOUND (nothing, or more than one commit); those of Backend.
Result<Pin> find_revision(const Remote& remote, const Repository& repository, const std::string& ref,
                          const Context& context);

// One shallow fetch by git of references or ids; number i arrives at Repository::incoming(i). `options` are git's.
tl::expected<void, FetchFailure> fetch_shallow(const Remote& remote, const Repository& repository,
                                               const std::vector<std::string>& sources,
                                               std::vector<std::string> options = {});

// Brings a commit by its id, to Repository::incoming(0); whether a branch or tag was found to lead to it on the way.
// Errors: NOT_FOUND where the remote does not know it, or knows something else under that id; those of Backend.
Result<bool> fetch_by_id(const Remote& remote, const Repository& repository, const std::string& commit,
                         const Context& context);

// Makes sure that a commit named by itself lies on a branch or tag of the remote. Errors: HASH_MISMATCH where it does
// not; NOT_FOUND where the remote does not know it; those of Backend.
Result<void> check_commit(const Remote& remote, const Repository& repository, const std::string& commit,
                          const Context& context);

// Brings a commit that an accepted tree names as its submodule (submodules.h says why that is proof enough); one that
// is there already costs nothing. Errors: NOT_FOUND where the remote does not know it; those of Backend.
Result<void> fetch_submodule(const Remote& remote, const Repository& repository, const std::string& commit,
                             const Context& context);

// NOT_FOUND of what is a `kind`, such as "tree", and no commit.
tl::unexpected<Error> no_commit(const Remote& remote, std::string_view name, std::string_view kind);

}  // namespace modlock::git
