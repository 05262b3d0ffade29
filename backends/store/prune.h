#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "backends/store/store.h"

namespace modlock {

struct PruneLimits {
  std::optional<std::uint64_t> max_bytes = {};       // of packages, repositories and records together
  std::optional<std::chrono::seconds> max_age = {};  // since the last use
};

struct PruneReport {
  StoreSizes removed;
  std::uint64_t leftovers = 0;  // unfinished work and records of what is gone: removed too
};

// Makes a store smaller: removes what was not used for `max_age`, then what was not used for longest until `max_bytes`
// are left; always the work that dead processes left unfinished, answers without an id of yesterday, and
// identities of packages that are gone, and the directory of an older layout. A record (Store::record_directories())
// was used when it was written; v2/seen, v2/installed and v2/locks stay, for the reasons that store.h tells. What was
// used within the last hour stays, whatever the limits say: a process that has found a package may be copying it. Each
// thing disappears in one step. What another process removes meanwhile is no error. `now` as the clock of files tells
// it. Errors: IO_ERROR; cancellation.
Result<PruneReport> prune(const Store& store, const PruneLimits& limits, const Context& context,
                          std::filesystem::file_time_type now = std::filesystem::file_time_type::clock::now());

// Notes that a thing in the store is in use, in the time of its directory's file `used`; at most every ten minutes.
void note_use(const std::filesystem::path& thing);

}  // namespace modlock
