#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/provider_plan.h"

namespace modlock {

// The open conflicts of a merge of lock files, for the planner of the lock.
struct OpenMerge {
  // The entries before the merge: those of the file on disk, or those of our side if it has conflict markers.
  ModuleLocks modules_before = {};
  ProviderLocks providers_before = {};
  // Entries that the sides changed differently (EntryMerge). The merged file has those with the highest versions.
  std::map<std::string, std::vector<std::optional<ModuleLock>>, std::less<>> modules = {};
  std::map<ProviderAddress, std::vector<std::optional<ProviderLock>>> providers = {};
  ModuleLocks dropped = {};  // entries of a side that the merged file does not have
  // By path: the text on disk, nullopt: no file. Contains only files that the merge changed.
  std::map<std::string, std::optional<std::string>, std::less<>> on_disk = {};
};

// Merges a lock file of a root in this repository with the sides of a merge that git has not completed: those of the
// index or of the commits being merged, or else, if `text` has conflict markers, those between the markers. `text` is
// the file on disk, nullopt if there is none; a file without markers is an additional side. `asks_git` false: only the
// markers are used. Returns the merged file with the highest versions of contested entries, and adds open conflicts to
// `merge`; nullopt if there is nothing to merge. Errors: LOCK_PARSE if a side cannot be read; HASH_MISMATCH if two
// sides have the same source and version (or commit) with different hashes; those of find_merge_sides().
Result<std::optional<LockFile>> merge_lock(const std::filesystem::path& repository, const WalkRequest& walk,
                                           const std::string& name, const std::optional<std::string>& text,
                                           bool asks_git, const Context& context, OpenMerge& merge);

// Chooses the highest version that the constraints allow among contested entries of needed providers. An entry without
// an allowed version is locked again. Returns whether an entry of `request.locked` changed.
bool resolve_merged_providers(const OpenMerge& merge, ProviderPlanRequest& request);

// Errors: LOCK_PARSE if an entry is contested that this run does not include.
Result<void> check_contested(const OpenMerge& merge, const messages::Include& include);

// Adds the changes that the merge made to the file on disk (without markers; otherwise to our side) to the changes of a
// plan, and describes the sides of contested entries. `modules` and `providers` are the new entries.
void name_merged_entries(const OpenMerge& merge, const ModuleLocks& modules, const ProviderLocks& providers,
                         std::vector<Change>& changes);

}  // namespace modlock
