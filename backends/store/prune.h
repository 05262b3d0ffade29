#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "backends/store/store.h"

namespace modlock {

struct PruneLimits {
  std::optional<std::uint64_t> max_bytes = {};       // of packages, repositories and records together
  std::optional<std::chrono::seconds> max_age = {};  // since the last use
};

struct PruneReport {
  messages::CacheSizes removed;
  std::uint64_t leftovers = 0;  // unfinished work and orphaned records that were removed too
};

// Removes everything in a store that was not used for `max_age`, then the least recently used things until `max_bytes`
// are left. Always removes the unfinished work of dead processes, answers to queries without an id that are older than
// a day, identities of packages that no longer exist, and the directory of an older layout.
//
// A record (Store::record_directories()) was last used when it was written. v2/seen, v2/installed and v2/locks are
// kept, for the reasons in store.h, and so are packages that root modules link to (links.h). Everything that was used
// within the last hour is kept regardless of the limits, because a process that has found a package may be copying it.
// Each thing disappears in one step. Concurrent removals by other processes are no error. `now` is a time of the file
// clock. Errors: IO_ERROR; cancellation.
Result<PruneReport> prune(const Store& store, const PruneLimits& limits, const Context& context,
                          std::filesystem::file_time_type now = std::filesystem::file_time_type::clock::now());

// Records that a thing in the store is in use, as the time of the file `used` in its directory; at most every ten
// minutes.
void note_use(const std::filesystem::path& thing);
// Gives a file the current time, at most every ten minutes. Returns whether it is there.
bool touch(const std::filesystem::path& file);

// Returns the entries of a directory; none if it does not exist. Errors: IO_ERROR.
Result<std::vector<std::filesystem::path>> list_directory(const std::filesystem::path& directory);

}  // namespace modlock
