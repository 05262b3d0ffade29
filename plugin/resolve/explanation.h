#pragma once

#include <optional>
#include <string>

#include "plugin/resolve/plan.h"
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

}  // namespace modlock
