#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"

namespace modlock {

// A tag that a source lists.
struct Tag {
  std::string name;               // as seen
  std::string id = {};            // its current target; empty if not yet requested
  std::string ref = {};           // ListedVersion::ref
  std::string version_text = {};  // the version, if it is not the name: OCI writes "_" for "+"
};

// Returns the tags that name a version under `prefix`, newest first, and the others in `skipped`. Equal versions are
// adjacent, sorted by metadata, then in the order of the tags, until merge_equal_versions().
Listing list_tags(std::vector<Tag> tags, std::string_view prefix, std::chrono::system_clock::time_point fetched_at);

// Calls `find_id` for each version without id that is equal to another, eight at a time. Errors: the first error of
// `find_id`, in the order of the versions.
Result<void> add_ids_of_equal_versions(std::vector<ListedVersion>& versions,
                                       const std::function<Result<std::string>(const ListedVersion&)>& find_id);

// Keeps only the first of equal versions with the same metadata. Further tags with the same id are moved to `skipped`;
// the first tag with another id makes the version ambiguous. `id_name` is the word for an id: "commit",
// "digest".
void merge_equal_versions(Listing& listing, std::string_view id_name);

}  // namespace modlock
