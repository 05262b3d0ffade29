#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "backends/providers/provider_source.h"
#include "backends/store/provider_hashes.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/plan.h"
#include "plugin/resolve/provider_tree.h"
#include "plugin/value/client_kind.h"

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

struct ProviderPlanRequest {
  std::vector<ProviderNeed> needs;  // find_needs()
  // Why there may be further needs: a state or a module that could not be read. Then nothing is removed.
  std::string unknown_needs = {};
  ProviderLocks locked = {};
  PlanMode mode = PlanMode::missing;
  // With mode upgrade: those that may get another version. nullopt: all.
  std::optional<std::set<ProviderAddress>> targets = {};
  // Versions to choose, whatever the mode, if the constraints allow them.
  std::map<ProviderAddress, ProviderVersion> wanted = {};
  HashSet hashes = HashSet::superset;
  std::vector<Platform> platforms = {};  // at least one, each once; for HashSet::init the one that `init` runs on
  ClientKind tool = ClientKind::opentofu;
  // What earlier runs have found of releases, for HashSet::superset. Null: nothing, and nothing is kept.
  const ReleaseHashes* known = nullptr;
};

// The old entries, the new entries, and why.
struct ProviderPlan {
  ProviderLocks providers;  // the new entries
  // Whether the client would write the file: addresses, versions or hashes are others, or mode providers_lock. Where it
  // is not, `providers` are the old entries, and the file stays as it is to the byte.
  bool is_written = false;
  std::map<ProviderAddress, ProviderSignature> signatures;  // of those that were asked for
  std::vector<Change> changes;                              // by address; empty where nothing is written
  Diagnostics diagnostics;                                  // warnings only
};

// Decides versions and hashes as OpenTofu's provider installer does (internal/providercache, command/init.go and
// command/providers_lock.go): what is locked stays while its constraints allow it, and its hashes are checked and
// extended; else the newest version is taken that they allow. For OpenTofu an entry of registry.terraform.io/hashicorp
// also stands, without its hashes, for the provider of that name on OpenTofu's registry. Entries that nobody needs any
// more go, but under HashSet::providers_lock, which never removes one.
// Under frozen nothing is asked: `changes` says which addresses would come or go, as `init -lockfile=readonly` sees it,
// and which locked versions their constraints exclude. Offline a locked entry stays as it is where nothing is known of
// it. Errors: INVALID_PARAMS where nobody needs a provider that is wanted; the worst of what any provider met (by exit
// code), the others in `related`: those of select_version(), select_wanted(), excluded_version(), vanished_version(),
// check_prior_hashes() and of ProviderSource; cancellation.
Result<ProviderPlan> plan_providers(const ProviderPlanRequest& request, ProviderSource& source, const Context& context);

}  // namespace modlock
