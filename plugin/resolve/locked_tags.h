#pragma once

#include <optional>

#include "plugin/resolve/plan.h"

// The commits that lock files and the cache have for one tag of a source. Members are the tags of versions and full
// tags that sources name; branches and partial tags (`v1`) are expected to move.
namespace modlock {

// Checks the tag of `entry`, which a call got in this run and did not have before. Returns HASH_MISMATCH if an entry of
// the lock file, or an earlier one of `files`, has the tag of this source at another commit, no entry has it at this
// commit, and the move was not accepted. Returns the warning TAG_MOVED if it was, or if only the cache has seen another
// commit.
std::optional<Diagnostic> check_new_tag(const PlanRequest& request, const ModuleNode& node,
                                        const ResolvedModule& resolved, const ModuleLock& entry,
                                        const SourceFetcher& fetcher, const PlanFiles& files);

// Returns a warning TAG_MOVED for each tag of a source that the entries have at different commits. Of tags that sources
// name, only plain versions (`v1.2.0`) are compared: others may be branches.
Diagnostics warn_of_split_tags(const ModuleLocks& modules, const Settings& settings);

}  // namespace modlock
