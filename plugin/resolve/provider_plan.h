#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "backends/providers/provider_source.h"
#include "backends/store/release_hashes.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/hash_set.h"
#include "plugin/resolve/plan.h"
#include "plugin/resolve/provider_need.h"
#include "plugin/value/client_kind.h"

namespace modlock {

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
