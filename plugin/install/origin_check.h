#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/source_fetcher.h"

namespace modlock {

// A call whose source a backend serves, and its matching lock entry.
struct LockedCall {
  const ModuleNode* node = nullptr;
  const ModuleLock* lock = nullptr;
};

struct OriginFindings {
  // By key: only moved, vanished, update_available, tampered, and held if the content was not downloaded.
  std::map<std::string, Verdict> verdicts;
  Diagnostics diagnostics;  // an error for each source that failed to answer; warnings
};

// Checks in parallel, for the sources of all calls, whether the locked versions have moved or been deleted: one listing
// per package, one request per reference. A commit or digest that the configuration names cannot move; only its
// repository can vanish. The content of a registry module or an archive can only be compared if it is fetched (into the
// store); unless `full`, an archive is not downloaded if its server states that it is unchanged. The package of a
// locked commit or digest is also fetched if the store has no record of it, to compare its h1 with the locked one.
OriginFindings check_origins(std::span<const LockedCall> calls, bool full, SourceFetcher& fetcher,
                             const Context& context);

// Returns whether the content of a locked id must have the locked h1. This is true of a commit or a digest. The
// checksum of an archive is only evidence: it may have been repacked.
bool names_fixed_content(std::string_view id);

// Returns a tampered verdict if the commit or digest of an entry is known to have another h1, because one of the two
// was edited. nullopt: they match, or the entry has no h1. `id` is the backend's; `h1` ("h1:…") is that of its content.
std::optional<Verdict> check_locked_content(const ModuleLock& lock, const Backend& backend, std::string_view id,
                                            std::string_view h1);

}  // namespace modlock
