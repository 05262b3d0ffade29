#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/git/remote.h"
#include "backends/git/repository.h"

namespace modlock::git {

// Implements GitAbilities::commit_distance(). One request, or two if the answer is no. Returns nullopt if anything
// fails.
std::optional<CommitDistance> find_descent(const Remote& remote, const Repository& repository, const std::string& older,
                                           const std::string& newer, const Context& context);

// Resolves a revision (is_revision() of references.h) in the history of all branches and tags. One or two requests.
// Errors: NOT_FOUND (no commit, or more than one); those of Backend.
Result<Pin> find_revision(const Remote& remote, const Repository& repository, const std::string& ref,
                          const Context& context);

// Fetches references or ids with one shallow fetch by git. Number i arrives at Repository::incoming(i). `options` are
// those of git.
tl::expected<void, FetchFailure> fetch_shallow(const Remote& remote, const Repository& repository,
                                               const std::vector<std::string>& sources,
                                               std::vector<std::string> options = {});

// Fetches a commit by its id to Repository::incoming(0). Returns whether this also showed that a branch or tag reaches
// it. Errors: NOT_FOUND if the remote does not have it or has another kind of object under that id; those of Backend.
Result<bool> fetch_by_id(const Remote& remote, const Repository& repository, const std::string& commit,
                         const Context& context);

// Checks that a commit named by its id is reachable from a branch or tag of the remote. Returns the commit; if the id
// is that of an advertised tag object, the commit of the tag. Errors: HASH_MISMATCH if it is not reachable; NOT_FOUND
// if the remote does not have it; those of Backend.
Result<std::string> check_commit(const Remote& remote, const Repository& repository, const std::string& commit,
                                 const Context& context);

// Fetches a commit that an accepted tree names as its submodule (submodules.h explains why that is sufficient). A
// commit that is already present costs no request. Errors: NOT_FOUND if the remote does not have it; those of Backend.
Result<void> fetch_submodule(const Remote& remote, const Repository& repository, const std::string& commit,
                             const Context& context);

// Makes the NOT_FOUND error for an object that is a `kind`, such as "tree", and not a commit.
tl::unexpected<Error> no_commit(const Remote& remote, std::string_view name, std::string_view kind);

}  // namespace modlock::git
