#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/git/remote.h"
#include "backends/git/repository.h"

namespace modlock::git {

// Fetches the requested commits into the repository and accepts those that the rules of FetchRequest allow. Element i
// belongs to request i and has its warnings. Commits that were accepted before cost no request. The others cost one
// request in total if every reference still points to its commit.
std::vector<Result<Diagnostics>> fetch_commits(const Remote& remote, const Repository& repository,
                                               std::span<const FetchRequest> requests, const Context& context);

// Resolves references in the source's own spelling (a tag, a branch, a revision; empty: HEAD) to their current commits.
// Element i belongs to reference i. If only git can query the remote and each reference is plainly a branch or tag, one
// fetch gets and accepts all commits. Otherwise the remote is listed, and no commits are fetched. Errors: those of
// find_reference(), of find_revision() and of Backend.
std::vector<Result<Pin>> fetch_references(const Remote& remote, const Repository& repository,
                                          std::span<const std::string> references, const Context& context);

// Whether the history decides what a reference names, given what find_reference() found: a revision, or a branch that
// is named like an abbreviated commit id. In a clone, a commit takes precedence over such a branch.
bool may_name_commit(const Result<Pin>& advertised, const Remote& remote, std::string_view ref);
// Resolves it by the history. Errors: those of find_revision().
Result<Pin> find_in_history(Result<Pin> advertised, const Remote& remote, const Repository& repository,
                            const std::string& ref, const Context& context);

// Returns the full names in a FETCH_HEAD file, in order: "refs/tags/v1", "refs/heads/main", "HEAD". An entry that is
// neither a branch nor a tag has an empty name.
std::vector<std::string> parse_fetch_head(std::string_view text);

}  // namespace modlock::git
