#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugin/lock/local_git.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/source_fetcher.h"
#include "protocol/messages/lock_plan.h"

namespace modlock {

using messages::PlanMode;

// The installed version of a call that has no lock entry.
struct InstalledRecord {
  std::optional<Version> version = {};  // of a registry module
  std::string commit = {};              // of a git tree; empty: unknown

  std::string text() const;  // for people: "1.2.5", "commit 8f2c0d0b6c1f"
};

// The reason of a change with the action adopted.
inline constexpr std::string_view kInstalledReason = "it is already installed";

// The module blocks that a lock file may have lost: those of the backup in the data directory, or of the last commits.
struct DroppedBlocks {
  ModuleLocks modules = {};
  std::optional<RepositoryFault> history_gap = {};  // why commits that may contain them cannot be read
  std::optional<Error> unreadable = {};             // why there are none
};

struct PlanRequest {
  WalkRequest walk;
  LockFile lock;
  // By key: the entries of the sides of a merge that changed an entry differently. `lock` contains one of them. The
  // entry with the highest version that the constraints allow stays. Entries without a version are resolved again.
  std::map<std::string, std::vector<std::optional<ModuleLock>>, std::less<>> contested = {};
  PlanMode mode = PlanMode::missing;
  std::vector<std::string> targets =
      {};  // "module.vpc"; with mode upgrade: only these, their subtrees and their groups
  // Locks the commit that a moved tag points to now. Applies to mode upgrade also without targets. With mode missing
  // every tag is resolved again, and nothing else changes.
  bool accept_moved = false;
  bool has_named_targets = true;  // the user named the targets, and so accepts that their own tags moved
  // By key of a call that chooses among versions: the version to choose if its constraints allow it. Calls that share
  // the version follow.
  std::map<std::string, Version, std::less<>> wanted = {};
  // By key of a call that an update changes: the call as it was before, which finds the entry of a renamed call.
  struct FormerCall {
    std::string source;
    std::optional<std::string> constraints;
  };
  std::map<std::string, FormerCall, std::less<>> former_calls = {};
  Resolution resolution = Resolution::automatic;
  bool checks_client = false;      // PlanFiles::check()
  bool replaces_packages = false;  // by replacement_of(), whose files are read instead of those of the package
  bool refuses_unlocked = false;   // a call that no backend serves is FROZEN, unless the settings allow it
  // The errors of modules, except those of calls in `wanted`, do not end the plan. They are in the diagnostics of its
  // tree. The plan has no entry for a call that cannot be resolved.
  bool continues_past_errors = false;

  // Returns whether the commit that a moved tag of a call points to now may be locked.
  bool accepts_moved(const std::string& subject) const;
};

// What is open besides the request: the files of the root module, its repository and its client. Each question reads
// only what it needs. This class has nothing.
class PlanFiles {
 public:
  virtual ~PlanFiles() = default;

  // Returns the blocks that replace entries that an unmodified OpenTofu dropped. Asked if an entry is missing.
  virtual const DroppedBlocks& dropped() const;
  // Returns the entries of earlier lock files that a change started from.
  virtual const std::vector<ModuleLock>& earlier_entries() const;
  // Returns the package of a call, besides the store, if it has this h1 ("h1:…"); nullopt: nothing suitable.
  virtual std::optional<LocalPackage> find_package(const ModuleNode& /*node*/, std::string_view /*h1*/) const {
    return {};
  }
  // Returns what is installed for a call. A first lock (is_first_lock()) keeps it if the call's constraints allow it.
  virtual std::optional<InstalledRecord> find_record(const ModuleNode& /*node*/) const { return {}; }
  // Adds further diagnostics of the tree, and removes those that they explain. If one is an error, there is no plan.
  virtual void check(const ModuleTree& /*tree*/, Diagnostics& /*diagnostics*/) const {}
};

// The resolved content of a remote module call.
struct ResolvedModule {
  std::optional<Version> version = {};  // empty for branches, tags and commits named by the source
  std::string ref = {};                 // FetchRequest::ref, Package::ref: "refs/tags/v1.2.5", "1.2.5", if known
  std::string id = {};                  // of the backend: a commit, a digest, a hash text
  std::string h1 = {};
  std::string modes = {};  // Package::modes; empty if already installed
  std::filesystem::path package_directory = {};
  std::string package_subdir = {};  // ModuleNode::package_subdir
  bool is_replaced = false;         // package_directory is replacement_of() the call

  std::optional<std::string> version_text() const {
    return version ? std::optional(version->to_string()) : std::nullopt;
  }
};

using messages::Action;
using messages::Change;
using messages::ChangeSide;
using messages::HeldMove;

// The old lock, the new lock, and the reasons.
struct Plan {
  ModuleTree tree;
  std::map<std::string, ResolvedModule, std::less<>> resolved;  // of every remote call that a backend serves
  ModuleLocks modules;                                          // the new module blocks
  std::vector<Change> changes;                                  // by subject
  std::vector<std::string> unlocked;  // keys of calls that no backend serves and that the settings allow
  std::vector<HeldMove> moved;        // by subject
  Diagnostics diagnostics;            // warnings only
};

// Returns whether there is an entry of a module call. Entries of hosts (a colon in the key) are ignored.
bool has_module_entries(const ModuleLocks& locks);

// Returns whether there are no module blocks yet, neither in the lock nor to restore, except those of hosts (a colon in
// the key). Then PlanFiles::find_record() applies. Always false under frozen.
bool is_first_lock(const PlanRequest& request, const PlanFiles& files);

// Resolves the module tree. A locked entry matches if its source equals the call's; it stays while its constraint
// allows it. Calls of one package (and tag prefix) share a version according to `resolution`; constraints found during
// the run only accumulate. A source that no backend serves stays unchanged, with a warning. Under upgrade without
// targets, an entry stays if the tag of its version, or the full tag that its call names, was moved, unless
// accepts_moved(); this applies to calls below a target, too. Under frozen, requests are sent only for locked packages
// that the store lacks; calls without a matching entry are changes. Errors: the worst error of all calls (by exit
// code), the others in `related`; INVALID_PARAMS for a target that no call has; HASH_MISMATCH if a locked package has a
// different h1; NOT_FOUND with Reason::locked_thing_gone.
Result<Plan> make_plan(const PlanRequest& request, SourceFetcher& fetcher, const Context& context,
                       const PlanFiles& files = {});

// Returns the message about a call that no backend serves and that the settings do not allow: SOURCE_UNSUPPORTED.
Error unlockable_error(const ModuleNode& node, const Settings& settings);

// Returns the message of each run about those that the settings allow, by key.
Diagnostic unlocked_warning(const std::vector<std::string>& keys);

// Combines errors into the worst one by exit code, with the others as `related`.
Error combine(Diagnostics errors);

// Returns those that are errors.
Diagnostics errors_of(const Diagnostics& diagnostics);
// Errors: the combined ones of the diagnostics, if there are any.
Result<void> check_errors(const Diagnostics& diagnostics);

// The resolution of one call on its own, without reading its files.
struct SingleCall {
  bool is_served = true;      // false: no backend serves such sources, and the rest is empty
  ModuleLock lock = {};       // its entry, unchanged if nothing about it changed
  LocalPackage package = {};  // in the store
  std::optional<HeldMove> moved = {};
  Diagnostics warnings = {};
};

// Resolves `node`, a remote call with its constraints, from the lock entry of its key and the mode of the request.
// Errors: those of make_plan(); SOURCE_DENIED; FROZEN if under frozen no entry matches the call.
Result<SingleCall> plan_single_call(const PlanRequest& request, ModuleNode node, SourceFetcher& fetcher,
                                    const Context& context, const PlanFiles& files = {});

}  // namespace modlock
