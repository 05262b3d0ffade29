#pragma once

#include <string>

#include "plugin/resolve/explanation.h"
#include "plugin/resolve/provider_plan.h"

namespace modlock {

// Explains a provider of a request: each constraint with its location and the versions it leaves of those that the
// source lists now, then the locked version. If the source cannot be queried, the result has a warning and contains
// only the locked version. `selected` has no version if none is possible, and the hashes of the lock if it has that
// version. `lock` and `lock_path` are used for locations. Errors: INVALID_PARAMS (no such provider is needed);
// cancellation.
Result<messages::LockExplainResult> explain_provider(const ProviderPlanRequest& request, const std::string& subject,
                                                     const LockFile& lock, const std::string& lock_path,
                                                     ProviderSource& source, const Context& context);

}  // namespace modlock
