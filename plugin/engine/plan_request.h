#pragma once

#include "plugin/engine/open_root.h"
#include "plugin/resolve/plan.h"

namespace modlock {

// The changes of a plan as messages.
std::vector<messages::Change> to_messages(const std::vector<Change>& changes);

// The lock that counts: the file itself, or its module blocks from where an earlier setting has left them.
LockFile effective_lock(const LockDocument& lock);

// What `lock/plan` asks of a root and its lock. `root`, `engine` and `context` outlive the request. Errors:
// INVALID_PARAMS (an age that is no duration); those of find_installed_records(); cancellation.
Result<PlanRequest> make_plan_request(const RootRequest& root, const LockDocument& lock,
                                      const messages::LockPlanParams& params, const Engine& engine,
                                      const Context& context);

// A request under frozen for a root and its lock: what `modules/install` starts from. Every entry stands for itself:
// which calls have to share a version was settled when they were locked. `root` and `context` outlive the request.
PlanRequest frozen_plan(const RootRequest& root, const LockDocument& lock, const Context& context);

// PlanRequest::installed for a root. Where its manifest cannot be read, nothing is known to be installed.
std::function<std::optional<LocalPackage>(const ModuleNode&, std::string_view)> find_installed(const RootRequest& root,
                                                                                               const Context& context);

// Whether every remote call of a frozen plan has an entry that counts: FROZEN where one has none. Other changes (an
// entry nobody calls) do not stand in the way.
Result<void> check_locked(const Plan& plan, const std::string& lock_path, Run& run);

// FROZEN naming what would change; the changes go to `run.changes`, too. `is_locked_per_call`: nothing
// would change with the resolution "per-call".
Error frozen_error(const std::vector<Change>& changes, const std::string& lock_path, Run& run,
                   bool is_locked_per_call = false);

// FROZEN for edits that change no entry: a file that another setting left, or its layout.
Error unwritten_error(const messages::WorkspaceEdit& edits);

// What is said of module calls that are resolved although their blocks may be in commits that a shallow clone does not
// have: the warning LOCK_INCOMPLETE. With `is_frozen` they are not resolved: FROZEN.
Error lost_history_error(const std::string& lock_path, bool is_frozen);

}  // namespace modlock
