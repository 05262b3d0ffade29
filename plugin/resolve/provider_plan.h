#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "backends/providers/provider_source.h"
#include "backends/store/provider_hashes.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/plan.h"
#include "plugin/resolve/provider_tree.h"
#include "plugin/resolve/release_age.h"
#include "plugin/value/client_kind.h"

namespace modlock {

using messages::HashSet;

// Returns the new hashes of an entry, sorted and unique. `prior` is the entry of the same version, or null. With
// providers_lock all prior hashes stay. Otherwise those whose scheme a client knows (h1, zh) stay, because `init` drops
// the others and rewrites the file. For an archive from a mirror whose `zh:` is not recorded, a superset also contains
// the hash that a client compares, if that is not the hash of the directory.
std::vector<std::string> complete_hashes(HashSet set, const ProviderLock* prior, const ProviderRelease& release);

// Checks whether the packages are the locked ones, as the client does before it installs one. Each must have one of the
// prior hashes (h1, zh; from an OCI registry zh). The `zh:` of a directory cannot be known, so a missing one is not a
// mismatch. A superset is for more platforms and sources than those that were locked. There it is sufficient that the
// source still publishes all recorded checksums of archives and that one hash matches. providers_lock checks nothing,
// as the client does. Errors: HASH_MISMATCH in the client's words, naming the hashes that were found.
Result<void> check_prior_hashes(HashSet set, const ProviderNeed& need, const ProviderLock& prior,
                                const ProviderRelease& release);

// Returns the hashes whose scheme clients know.
std::vector<std::string> known_hashes(const std::vector<std::string>& hashes);

struct ProviderPlanRequest {
  std::vector<ProviderNeed> needs;  // find_needs()
  // Why there may be further needs: a state or a module that could not be read. Then nothing is removed.
  std::string unknown_needs = {};
  ProviderLocks locked = {};
  PlanMode mode = PlanMode::missing;
  // With mode upgrade: the providers that may get another version. nullopt: all.
  std::optional<std::set<ProviderAddress>> targets = {};
  // Versions to choose in every mode, if the constraints allow them.
  std::map<ProviderAddress, ProviderVersion> wanted = {};
  HashSet hashes = HashSet::superset;
  std::vector<Platform> platforms = {};  // at least one, unique; for HashSet::init the one that `init` runs on
  ClientKind tool = ClientKind::opentofu;
  Settings settings = {};  // the deny rules and the minimum release ages apply
  std::chrono::system_clock::time_point now = std::chrono::system_clock::now();
  // Hashes of releases that earlier runs found, for HashSet::superset. Null: none, and none are stored.
  const ReleaseHashes* known = nullptr;

  AgeLimit limit_of(const ProviderAddress& address) const { return age_limit(settings, address); }
};

// The old entries, the new entries, and the reasons.
struct ProviderPlan {
  ProviderLocks providers;  // the new entries
  // Whether the client would write the file: addresses, versions or hashes differ, or the mode is providers_lock. If
  // not, `providers` are the old entries, and the file stays unchanged byte for byte.
  bool is_written = false;
  std::map<ProviderAddress, ProviderSignature> signatures;  // of those that were requested
  std::vector<Change> changes;                              // by address; empty if nothing is written
  Diagnostics diagnostics;                                  // warnings only
};

// Decides versions and hashes as OpenTofu's provider installer does (internal/providercache, command/init.go and
// command/providers_lock.go). A locked version stays while its constraints allow it, and its hashes are checked and
// extended. Otherwise the newest version that is allowed and old enough is selected; exceptions are named as
// for modules (release_age.h). For OpenTofu an entry of registry.terraform.io/hashicorp
// also applies, without its hashes, to the provider of that name on OpenTofu's registry. Unneeded entries are removed,
// except under HashSet::providers_lock, which never removes one. Under frozen no requests are sent: `changes` lists the
// addresses that would be added or removed, as `init -lockfile=readonly` compares them, and the locked versions that
// their constraints exclude. Offline a locked entry stays unchanged if nothing is known about it. Errors:
// INVALID_PARAMS if a wanted provider is not needed; the worst error of all providers (by exit code), the others in
// `related`: those of select_version(), select_wanted(), check_provider_allowed(), excluded_version(),
// vanished_version(), check_prior_hashes() and of ProviderSource; cancellation.
Result<ProviderPlan> plan_providers(const ProviderPlanRequest& request, ProviderSource& source, const Context& context);

}  // namespace modlock
