#pragma once

#include <optional>

#include "plugin/engine/open_root.h"
#include "plugin/resolve/module_tree.h"
#include "protocol/base/result.h"
#include "protocol/messages/lock_plan.h"

namespace modlock {

// Checks that a lock file is valid for the client that will run, if the user did not decide which one that is
// (ClientProgram::decider). `tree` is the reading of the client that is assumed. Returns this client if the checkout
// declares it, module addresses without a host depend on it, and PATH has both clients or none.
// Errors: FROZEN. The other client reads files in which it calls a module that the lock file does not have. Or module
// addresses without a host depend on the client, and only the other one is on PATH, or the checkout declared the other
// one at EngineOptions::base. Also those of read_base(). If `is_check` is false, only a client that is missing on PATH
// is reported, as a warning.
Result<std::optional<messages::CheckedFor>> check_client_choice(OpenRoot& open, const ModuleTree& tree, bool is_check,
                                                                Diagnostics& diagnostics);

}  // namespace modlock
