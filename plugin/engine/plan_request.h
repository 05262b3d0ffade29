#pragma once

#include <map>
#include <optional>
#include <string>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/address/version.h"
#include "plugin/engine/open_root.h"
#include "plugin/lock/edit.h"
#include "plugin/resolve/provider_plan.h"
#include "protocol/messages/update_plan.h"

namespace modlock {

// Adds a document in the forms that the host applies; of a configuration file the ranges, and the text only without
// them.
void add_document(std::vector<EditedDocument>& out, EditedDocument document, const EngineOptions& options);

// Returns the lock that applies: the file itself, or its module blocks from the file of an earlier setting.
LockFile effective_lock(const LockDocument& lock);

// Returns an entry as the call that it answers, for one whose call is not in the configuration. Errors: those of
// parse_identity() and parse_source(); CONSTRAINT_SYNTAX.
Result<ModuleNode> node_of_entry(const ModuleLock& entry);

// Checks an entry without a call against the lists and deny rules of the settings. Errors: SOURCE_DENIED;
// RELEASE_DENIED.
Result<void> check_entry_allowed(const Settings& settings, const ModuleLock& entry);

// Returns the entries in which unmatched_rules() finds renamed calls: those of the lock, or, if it has none, those that
// a client dropped.
ModuleLocks known_locks(const OpenRoot& open);

// Returns the entries that `lock` restores because the lock file has none any more: a client dropped them, or the file
// was deleted. Empty if the lock file has entries, or if nothing is known.
ModuleLocks dropped_locks(const OpenRoot& open);

// Returns LOCK_INCOMPLETE for dropped_locks(), with how to restore and how to keep them.
Error dropped_blocks_error(const LockDocument& lock);

// Returns the warnings of warn_of_ignored_files() about the lock files and the settings of a root.
Diagnostics ignored_files(const OpenRoot& open);

// Returns FROZEN with notes about dropped_locks() of its changes and ignored_files(), if there are any; other errors
// unchanged.
Error with_dropped_blocks(Error error, const OpenRoot& open);

// Creates the plan request of `lock/plan` for a root. Locked packages come from what is installed: content with the
// locked h1 and modes for which has_locked_modes() proves the entry; if the manifest cannot be read, nothing counts as
// installed. Then they come from the bundle of the root. `open` outlives the request. Errors: INVALID_PARAMS (an age
// that is not a duration); those of find_installed_records(); cancellation.
Result<PlanRequest> make_plan_request(OpenRoot& open, const messages::LockPlanParams& params);

// Creates a request under frozen for a root, for `modules/install`. Each entry is independent: calls that share a
// version were determined when they were locked. Packages come from the places above; without `uses_installed` only
// from the bundle. `open` outlives the request.
PlanRequest frozen_plan(OpenRoot& open, bool uses_installed = true);

// Adds the bundle of the root to the places of a request. Like installed content, it does not prove a commit or digest.
// `open` outlives the request.
void add_bundle(PlanRequest& request, OpenRoot& open);

// Checks that every remote call of a frozen plan has a matching entry; otherwise FROZEN, as with_dropped_blocks()
// returns it. Other changes (an entry without a call) are allowed.
Result<void> check_locked(const Plan& plan, const OpenRoot& open);

// Checks the provider blocks of a lock against the deny rules; make_plan() checks the modules. Errors: RELEASE_DENIED.
Result<void> check_locked_providers(const OpenRoot& open);

// Returns FROZEN with the required changes, which also go to `run.changes`. `is_locked_per_call`: nothing would change
// with the resolution "per-call".
Error frozen_error(const std::vector<Change>& changes, const LockDocument& lock, Run& run,
                   bool is_locked_per_call = false);

// Returns the providers that the state of a root uses; `tree` contains the location of its state. Errors: those of
// read_state_providers().
Result<StateProviders> read_state(const RootRequest& root, const ModuleTree& tree);

// Creates the `lock/plan` request for the providers of a tree. Problems of the state go to `diagnostics`. Errors:
// INVALID_PARAMS (an invalid platform, several for the hashes of `init`, a target that no module needs); those of
// read_state() and find_needs().
Result<ProviderPlanRequest> make_provider_request(const OpenRoot& open, const ModuleTree& tree,
                                                  const messages::LockPlanParams& params, Diagnostics& diagnostics);

// Reads the minimum release age of one run; empty: none. Errors: INVALID_PARAMS.
Result<std::optional<std::chrono::seconds>> requested_age(const std::string& text);

// Versions that have to be chosen in every mode.
struct WantedVersions {
  std::map<std::string, Version, std::less<>> modules = {};  // by key of the call
  std::map<ProviderAddress, ProviderVersion> providers = {};
  std::map<std::string, PlanRequest::FormerCall, std::less<>> former_calls = {};  // of PlanRequest
  Diagnostics* skipped = nullptr;                                                 // of PlanRequest
};

// Decides one `lock/plan`: modules first, then the providers that they need. `wanted` nullopt: none, and under mode
// missing the sides of a merge in progress are merged first. The changes of FROZEN and the diagnostics go to `run`,
// too. Errors: those of OpenRoot::open(), make_plan() and plan_providers().
Result<messages::LockPlanResult> plan_lock(const Engine& engine, messages::LockPlanParams params,
                                           std::optional<WantedVersions> wanted, Run& run);

// Returns the entries of a lock file that are locked to `SOURCE[@VERSION|COMMIT|DIGEST]`: modules by call path, then
// providers by address. Errors: those of ReleasePattern::parse().
Result<std::vector<messages::FoundRelease>> find_locked(const LockDocument& document, const std::string& release);

// Decides one `update/plan`, and skips modules other than those of the updates that cannot be read (PlanRequest).
// Errors: those of plan_lock(), and those of the edits of the configuration.
Result<messages::LockPlanResult> plan_update(const Engine& engine, const messages::UpdatePlanParams& params,
                                             Diagnostics& skipped, Run& run);

}  // namespace modlock
