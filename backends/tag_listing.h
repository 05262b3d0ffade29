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
  std::string id = {};            // what it names now; empty where that has not been asked
  std::string ref = {};           // ListedVersion::ref
  std::string version_text = {};  // what is read as a version where that is not the name: OCI writes "_" for "+"
};

// The tags that name a version under `prefix`, newest first, and the others in `skipped`. Equal versions stand side by
// side, in the order of the tags, until merge_equal_versions().
Listing list_tags(std::vector<Tag> tags, std::string_view prefix, std::chrono::system_clock::time_point fetched_at);

// Asks `find_id` for the ids of versions that have none and are equal to another, eight at a time. Errors: the first of
// `find_id`, in the order of the versions.
Result<void> add_ids_of_equal_versions(std::vector<ListedVersion>& versions,
                                       const std::function<Result<std::string>(const ListedVersion&)>& find_id);

// Leaves one of equal versions (which differ in metadata at most): the first. Tags that give the same id are skipped,
// the first that gives another makes it ambiguous. `id_name` is what an id is: "commit", "digest".
void merge_equal_versions(Listing& listing, std::string_view id_name);

}  // namespace modlock
