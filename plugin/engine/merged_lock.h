#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/engine/root_request.h"
#include "plugin/resolve/provider_plan.h"

namespace modlock {

// Merges a lock file of a root with the sides of a merge that git has not completed: those of the index or of the
// commits being merged, else, if `text` has conflict markers, those between the markers. `text` is the file on disk,
// nullopt if there is none; a file without markers is a side like the others. `asks_git` false: only the markers count.
// Returns the merged file, of contested entries with the highest version, and adds to `merge` what is still open;
// nullopt if nothing is to be merged. Errors: LOCK_PARSE if a side cannot be read; HASH_MISMATCH if two sides have one
// source and one version (or commit) with different hashes; those of find_merge_sides().
Result<std::optional<LockFile>> merge_lock(const RootRequest& root, const std::string& name,
                                           const std::optional<std::string>& text, bool asks_git,
                                           const Context& context, OpenMerge& merge);

// Chooses among contested entries of needed providers the highest version that the constraints allow; one of which no
// version is allowed is locked again. Returns whether an entry of `request.locked` changed.
bool resolve_merged_providers(const OpenMerge& merge, ProviderPlanRequest& request);

// Errors: LOCK_PARSE if an entry is contested that this run leaves out.
Result<void> check_contested(const OpenMerge& merge, const messages::Include& include);

// Adds to the changes of a plan those that the merge made to the file on disk (without markers; else to our side), and
// names contested entries with what the sides had. `modules` and `providers` are the new entries.
void name_merged_entries(const OpenMerge& merge, const ModuleLocks& modules, const ProviderLocks& providers,
                         std::vector<Change>& changes);

}  // namespace modlock
