#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/resolve/explanation.h"
#include "plugin/resolve/provider_plan.h"

namespace modlock {

// The reasons for the version of a provider.
struct ProviderExplanation {
  std::optional<ProviderVersion> version;  // that is or would be locked; nullopt: no version is possible
  std::vector<std::string> hashes;         // of the lock, if it has that version
  std::string reason;                      // the end of a sentence
  std::vector<ExplainedStep> chain;
  Diagnostics diagnostics;  // what could not be determined, and obstacles
};

// Explains a provider of a request: each constraint with its location and the versions it leaves of those that the
// source lists now, then the locked version. If the source cannot be queried, the result has a warning and contains
// only the locked version. `lock` and `lock_path` are used for locations. Errors: INVALID_PARAMS (no such provider is
// needed); cancellation.
Result<ProviderExplanation> explain_provider(const ProviderPlanRequest& request, const std::string& subject,
                                             const LockFile& lock, const std::string& lock_path, ProviderSource& source,
                                             const Context& context);

}  // namespace modlock
