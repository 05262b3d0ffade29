#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/address/version.h"
#include "plugin/engine/open_root.h"
#include "plugin/install/manifest.h"
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

// What is open of a root for one plan. `open` outlives it.
class RootFiles : public PlanFiles {
 public:
  // Where locked packages come from. `any`: from what is installed, content with the locked h1 and modes for which
  // has_locked_modes() proves the entry (nothing, if the manifest cannot be read); then from the bundle of the root.
  // Neither proves a commit or digest. `proven`: a client follows an override file without contacting the source, so
  // those of calls that need one come from nowhere else. `bundled`: only from the bundle. `served`: the same, but
  // modules of git are served from their repositories, which a bundle does not have.
  enum class Packages { any, proven, bundled, served };
  explicit RootFiles(OpenRoot& open, Packages packages = Packages::any, DroppedBlocks dropped = {})
      : open_(open), packages_(packages), dropped_(std::move(dropped)) {}

  // Creates the plan request of `lock/plan`. From now on earlier entries are known, and unless it is frozen, dropped
  // blocks and records. Git is asked at their first use. Errors: INVALID_PARAMS (an age that is not a duration); those
  // of find_installed_records(); cancellation.
  Result<PlanRequest> make_request(const messages::LockPlanParams& params);

  // Returns the calls for which find_package() found nothing, by key; true: it did not search.
  const std::map<std::string, bool>& missing() const { return missing_; }

  const DroppedBlocks& dropped() const override;
  const std::vector<ModuleLock>& earlier_entries() const override;
  std::optional<LocalPackage> find_package(const ModuleNode& node, std::string_view h1) const override;
  std::optional<InstalledRecord> find_record(const ModuleNode& node) const override;
  void check(const ModuleTree& tree, Diagnostics& diagnostics) const override;

 private:
  OpenRoot& open_;
  Packages packages_;
  mutable std::map<std::string, bool> missing_;
  mutable std::optional<Manifest> manifest_;
  std::function<std::optional<InstalledRecord>(const ModuleNode&)> records_;
  std::set<std::string> base_;  // the revisions of earlier entries
  mutable std::optional<DroppedBlocks> dropped_;
  mutable std::optional<std::vector<ModuleLock>> earlier_;
};

// Creates a request under frozen for a root, for `modules/install`. Each entry is independent: calls that share a
// version were determined when they were locked.
PlanRequest frozen_plan(const OpenRoot& open);

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
  bool continues_past_errors = false;                                             // of PlanRequest
};

// Decides one `lock/plan`: modules first, then the providers that they need. `wanted` nullopt: none, and under mode
// missing the sides of a merge in progress are merged first. The changes of FROZEN and the diagnostics go to `run`,
// too. Errors: those of OpenRoot::open(), make_plan() and plan_providers().
Result<messages::LockPlanResult> plan_lock(const Engine& engine, messages::LockPlanParams params,
                                           std::optional<WantedVersions> wanted, Run& run);

// Returns the entries of a lock file that are locked to `SOURCE[@VERSION|COMMIT|DIGEST]`: modules by call path, then
// providers by address. Errors: those of ReleasePattern::parse().
Result<std::vector<messages::FoundRelease>> find_locked(const LockDocument& document, const std::string& release);

// Decides one `update/plan`, and continues past errors (PlanRequest), which are in its diagnostics. Errors: those of
// plan_lock(), and those of the edits of the configuration.
Result<messages::LockPlanResult> plan_update(const Engine& engine, const messages::UpdatePlanParams& params, Run& run);

}  // namespace modlock
