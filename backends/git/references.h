#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "protocol/base/result.h"

namespace modlock::git {

// One line of a remote's advertisement.
struct Reference {
  std::string name;         // "HEAD", "refs/heads/main", "refs/tags/v1.0.0"
  std::string id;           // the object it names: a tag object for an annotated tag
  std::string peeled = {};  // the target of the tag object; otherwise empty

  const std::string& commit() const { return peeled.empty() ? id : peeled; }
};
using References = std::vector<Reference>;

// What a caller needs of a remote: full names, and prefixes of names ("refs/tags/"). A remote may list more.
using WantedReferences = std::vector<std::string>;

// The references that a remote listed.
struct Advertising {
  References references;
  bool is_whole = true;            // otherwise a list of what was wanted, and perhaps more
  bool is_new = true;              // requested just now; otherwise cached from an earlier call
  std::string redirected_to = {};  // Listing::redirected_to
};

// Parses the output of `git ls-remote`. A peeled line ("…^{}") takes precedence over the tag object before it. Errors:
// BAD_RESPONSE quoting the first line that is not "<id> TAB <name>".
Result<References> parse_references(std::string_view output);

// Adds a reference of an advertisement. A peeled name comes after its tag, and adds its target.
void add_reference(References& references, std::string_view name, std::string id);

// Returns the versions that the tags name under `prefix`, newest first.
Listing make_listing(References references, std::string_view prefix, std::chrono::system_clock::time_point fetched_at);

// 40 lower- or upper-case hexadecimal digits.
bool is_full_commit(std::string_view text);
// Whether the text is an object id in the SHA-256 object format.
bool is_sha256_id(std::string_view text);
bool is_same_commit(std::string_view left, std::string_view right);
// Whether git allows a reference of that name, or of that name below refs/ (git check-ref-format).
bool is_reference_name(std::string_view text);

// Whether the text is an abbreviated commit id: at least four digits, because git abbreviates no further, but not all.
bool is_abbreviation(std::string_view text);
// Whether `ref` may name a commit by a part of its id or through another name: "8f2c0d0", "HEAD~2", "v1-3-g8f2c0d0",
// "v1^{}~1", "@".
bool is_revision(std::string_view ref);

// Resolves `ref` as OpenTofu's checkout in a fresh clone does. A tag takes precedence over a branch of the same name,
// unless `prefers_branches`.
// Full names, "tags/x", "heads/x", "origin/x" and "x^{}" are supported, and an empty `ref` or "@" is HEAD. `display` is
// the repository, for messages. Errors: NOT_FOUND naming the reference (also for is_revision(), because the history may
// have it); SOURCE_UNSUPPORTED for other revision expressions, such as "v1^{tree}".
Result<Pin> find_reference(const References& references, std::string_view ref, std::string_view display,
                           bool prefers_branches = false);

// Adds the names that find_reference() compares.
void add_possible_names(WantedReferences& wanted, std::string_view ref, bool prefers_branches);

// Returns the annotated tag whose tag object has this id; null if there is none.
const Reference* find_tag_object(const References& references, std::string_view id);

// Whether a branch or tag points to exactly this commit.
bool is_advertised(const References& references, std::string_view commit);

}  // namespace modlock::git
