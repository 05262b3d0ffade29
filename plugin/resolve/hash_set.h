#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/providers/provider_source.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/provider_need.h"

namespace modlock {

// Which hashes of a provider the lock file gets.
enum class HashSet {
  superset,       // all that a client may want to add on any of the platforms
  init,           // what `init` of the client writes where nothing is installed yet
  providers_lock  // what `providers lock -platform=…` of the client writes
};

// The new hashes of an entry, sorted, each once. `prior` is the entry of the same version; null: there is none.
// Prior hashes stay: with providers_lock all, else those whose scheme a client knows (h1, zh), for `init` drops the
// others and writes the file anew. A superset has in addition the hash that a client compares of an archive from a
// mirror whose `zh:` is not recorded, where that is not the hash of the directory.
std::vector<std::string> complete_hashes(HashSet set, const ProviderLock* prior, const ProviderRelease& release);

// Whether the packages are those that were locked, as the client checks it before it installs one: each must have one
// of the prior hashes (h1, zh; from an OCI registry zh); of a directory `zh:` cannot be known, so that alone is no
// mismatch. A superset is for more platforms than those that were locked, and for more sources: there it is enough that
// the source still vouches for all that the entry says of archives and that one hash matches. providers_lock checks
// nothing, as the client. Errors: HASH_MISMATCH in the client's words, naming what was found.
Result<void> check_prior_hashes(HashSet set, const ProviderNeed& need, const ProviderLock& prior,
                                const ProviderRelease& release);

// The hashes of schemes that clients know.
std::vector<std::string> known_hashes(std::span<const std::string> hashes);

}  // namespace modlock
