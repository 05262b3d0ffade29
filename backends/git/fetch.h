#pragma once

#include <span>
#include <string>
#include <string_view>
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

// What references in the source's own spelling (a tag, a branch, a revision; empty: HEAD) give now; element i belongs
// to reference i. One fetch brings and accepts all of them where each is plainly a branch or tag; else the remote is
// listed, and the commits are not there yet. Errors: those of find_reference(), of find_revision() and of Backend.
std::vector<Result<Pin>> fetch_references(const Remote& remote, const Repository& repository,
                                          std::span<const std::string> references, const Context& context);

// The full names in the FETCH_HEAD that git wrote, in order: "refs/tags/v1", "refs/heads/main", "HEAD"; empty for
// what is neither branch nor tag.
std::vector<std::string> parse_fetch_head(std::string_view text);

}  // namespace modlock::git
