#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "protocol/base/result.h"

namespace modlock::git {

// One line of what a remote advertises.
struct Reference {
  std::string name;         // "HEAD", "refs/heads/main", "refs/tags/v1.0.0"
  std::string id;           // the object it names: a tag object where the tag is annotated
  std::string peeled = {};  // what that leads to; empty where it is no tag object

  const std::string& commit() const { return peeled.empty() ? id : peeled; }
};
using References = std::vector<Reference>;

// The output of `git ls-remote`: a peeled line ("…^{}") wins over the tag object before it.
// Errors: BAD_RESPONSE quoting the first line that is not "<id> TAB <name>".
Result<References> parse_references(std::string_view output);

// The versions among the tags: what tags name a version under `prefix`, newest first.
Listing make_listing(References references, std::string_view prefix, std::chrono::system_clock::time_point fetched_at);

// 40 lower- or upper-case hexadecimal digits.
bool is_full_commit(std::string_view text);
// What names an object where a repository is of the SHA-256 object format.
bool is_sha256_id(std::string_view text);
bool is_same_commit(std::string_view left, std::string_view right);
// Whether git could have a reference of that name, or of that name below refs/ (git check-ref-format).
bool is_reference_name(std::string_view text);

// Four digits of a commit or more, not all: git abbreviates no further.
bool is_abbreviation(std::string_view text);
// Whether `ref` may name a commit by a part of its id, or along its ancestors: "8f2c0d0", "v1~2", "v1-3-g8f2c0d0".
bool is_revision(std::string_view ref);

// What `ref` names, as OpenTofu's checkout in a fresh clone finds it: a tag beats a branch of the same name; full
// names, "tags/x", "heads/x" and "origin/x" are understood, and an empty one is HEAD. `display` is the repository, for
// messages. Errors: NOT_FOUND naming the reference (for is_revision() too: the history may have it); SOURCE_UNSUPPORTED
// for other revision expressions, such as "v1^{tree}".
Result<Pin> find_reference(const References& references, std::string_view ref, std::string_view display);

// Whether a branch or a tag is exactly this commit.
bool is_advertised(const References& references, std::string_view commit);

}  // namespace modlock::git
