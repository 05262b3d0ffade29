#pragma once

#include <optional>
#include <string>

#include "plugin/resolve/plan.h"
#include "plugin/resolve/provider_plan.h"
#include "plugin/resolve/source_fetcher.h"
#include "protocol/messages/lock_explain.h"

namespace modlock {

using messages::ExplainedStep;

// Returns the reason for a version that the lock file has: "it was selected for "~> 1.0" when it was locked, …".
std::string locked_reason(const std::string& constraints, const std::string& as = {});

struct ExplainRequest {
  const PlanRequest& plan_request;
  const Plan& plan;
  std::string subject;    // "module.vpc.nested"
  std::string lock_path;  // for locations
};

// Explains one call of a plan: the constraints of all calls that share its version (its own first), then the minimum
// release age, then the locked or installed version. The versions are those that the source lists now. If the source
// cannot be queried, the result has a warning and contains only the chosen version.
// Errors: INVALID_PARAMS (no such call); cancellation.
Result<messages::LockExplainResult> explain(const ExplainRequest& request, SourceFetcher& fetcher,
                                            const Context& context);

// Explains a call if no version satisfies the constraints of all calls that share it. `plan` gives each call its own
// version; `plan_request` is the request that failed. Nothing is selected, and the last step is the constraint that
// leaves no version. Returns nullopt if the call is not part of such a conflict.
std::optional<messages::LockExplainResult> explain_conflict(const ExplainRequest& request, SourceFetcher& fetcher);

// Explains a provider of a request: each constraint with its location and the versions it leaves of those that the
// source lists now, then the locked version. If the source cannot be queried, the result has a warning and contains
// only the locked version. `selected` has no version if none is possible, and the hashes of the lock if it has that
// version. `lock` and `lock_path` are used for locations. Errors: INVALID_PARAMS (no such provider is needed);
// cancellation.
Result<messages::LockExplainResult> explain_provider(const ProviderPlanRequest& request, const std::string& subject,
                                                     const LockFile& lock, const std::string& lock_path,
                                                     ProviderSource& source, const Context& context);

}  // namespace modlock
