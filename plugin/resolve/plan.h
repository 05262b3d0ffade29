#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/source_fetcher.h"

namespace modlock {

enum class PlanMode { missing, upgrade, frozen };

// What a client has installed for a call although nothing is locked.
struct InstalledRecord {
  std::optional<Version> version = {};  // of a registry module
  std::string commit = {};              // of a git tree; empty: unknown

  std::string text() const;  // for people: "1.2.5", "commit 8f2c0d0b6c1f"
};

struct PlanRequest {
  WalkRequest walk;
  LockFile lock;
  // Module blocks kept elsewhere (the copy in the data directory, else the last commit), for entries that a stock tofu
  // dropped. Not used under frozen.
  ModuleLocks restorable = {};
  // By key: what the sides of a merge have of an entry that they changed differently. `lock` has one of them. The one
  // with the highest version that the constraints allow stays; entries without a version are resolved again.
  std::map<std::string, std::vector<ModuleLock>, std::less<>> contested = {};
  // Whether there may be such blocks in commits that a shallow clone does not have.
  bool history_is_cut_off = false;
  PlanMode mode = PlanMode::missing;
  std::vector<std::string> targets =
      {};  // "module.vpc"; with mode upgrade: only these, their subtrees and their groups
  // Lock what a moved tag points to now: with mode upgrade also without targets; with mode missing every tag is asked
  // again, and nothing else changes.
  bool accept_moved = false;
  // By key of a call that chooses among versions: the one to choose, if its constraints allow it. Who shares it,
  // follows.
  std::map<std::string, Version, std::less<>> wanted = {};
  Resolution resolution = Resolution::automatic;
  std::optional<std::chrono::seconds> minimum_release_age = {};  // in place of what the settings say
  // What is installed for a call, where it has this h1; nullopt: nothing that could serve. Empty: nothing is installed.
  std::function<std::optional<LocalPackage>(const ModuleNode&, std::string_view h1)> installed = {};
  // What is installed for a call. In a first lock (is_first_lock()) it stays where the call's constraints allow it.
  // Empty: nothing is adopted.
  std::function<std::optional<InstalledRecord>(const ModuleNode&)> recorded = {};
  // Adds what else is wrong with the tree, and takes out what that explains. Errors among it: no plan.
  std::function<void(const ModuleTree&, Diagnostics&)> judge = {};
};

// What a remote module call resolves to.
struct ResolvedModule {
  std::optional<Version> version;  // absent for branches, tags and commits named by the source
  std::string ref;                 // FetchRequest::ref, Package::ref: "refs/tags/v1.2.5", "1.2.5", where known
  std::string id;                  // Backend's: a commit, a digest, a hash text
  std::string h1;
  std::string modes = {};  // Package::modes; empty: of what is installed already
  std::filesystem::path package_directory;
  std::string package_subdir = {};  // ModuleNode::package_subdir
};

enum class Action {
  added,
  updated,
  removed,
  adopted,
  restored,
  renamed,
  moved,
  hashes_added,
  constraints_changed,
  source_changed,
  reordered,
  merged
};
std::string_view to_string(Action action);

struct ChangeSide {
  std::optional<std::string> version = {};
  std::string ref = {};
  std::string commit = {};
  std::string digest = {};
};

struct Change {
  std::string subject;
  std::string previous_subject = {};  // of a renamed or moved call
  Action action = Action::added;
  std::optional<ChangeSide> from = {};
  std::optional<ChangeSide> to = {};
  std::optional<std::string> constraints = {};  // in force now, for people
  std::string reason = {};
  bool is_made_by_lock = true;  // false: what is in the way under frozen, and `lock` cannot help
};

// A module call whose tag was moved and whose locked content is kept.
struct HeldMove {
  std::string subject;
  std::string locked;   // origin hash: "git:…", "oci:sha256:…"
  std::string offered;  // what the tag points to now
};

// The old lock, the new lock, and why.
struct Plan {
  ModuleTree tree;
  std::map<std::string, ResolvedModule, std::less<>> resolved;  // of every remote call that a backend serves
  ModuleLocks modules;                                          // the new module blocks
  std::vector<Change> changes;                                  // by subject
  std::vector<HeldMove> moved;                                  // by subject
  Diagnostics diagnostics;                                      // warnings only
};

// Whether there is an entry of a module call: one of a host (a colon in its key) is none.
bool has_module_entries(const ModuleLocks& locks);

// Whether no module block is there yet, neither in the lock nor to be restored, but for those of hosts (a colon in the
// key): then `recorded` counts. Never under frozen.
bool is_first_lock(const PlanRequest& request);

// Resolves the module tree. A locked entry counts where its source equals the call's; it stays while its constraint
// allows it. Calls of one package (and tag prefix) share a version as `resolution` says; constraints met in the run
// only accumulate. A source that no backend serves is left as it lies, with a warning. Under upgrade without targets,
// an entry stays if the tag of its version, or the full tag that its call names, was moved, unless accept_moved is set.
// Under frozen nothing is asked but locked packages that the store lacks; calls without a counting entry are changes.
// Errors: the worst of what any call met (by exit code), the others in `related`; INVALID_PARAMS for a target that no
// call has; HASH_MISMATCH where a locked package has another h1; NOT_FOUND with locked_thing_gone.
Result<Plan> make_plan(const PlanRequest& request, SourceFetcher& fetcher, const Context& context);

// One error out of many: the worst by exit code, the others as `related`.
Error combine(Diagnostics errors);

// What one call resolves to, looked at by itself: nobody reads its files.
struct SingleCall {
  bool is_served = true;      // false: nobody serves such sources, and the rest is empty
  ModuleLock lock = {};       // its entry, unchanged where nothing about it changed
  LocalPackage package = {};  // in the store
  Diagnostics warnings = {};
};

// Resolves `node`, a remote call with its constraints, by the lock entry of its key and the mode of the request.
// Errors: those of make_plan(); FROZEN where under frozen no entry answers the call.
Result<SingleCall> plan_single_call(const PlanRequest& request, ModuleNode node, SourceFetcher& fetcher,
                                    const Context& context);

}  // namespace modlock
