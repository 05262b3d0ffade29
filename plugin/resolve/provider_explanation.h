#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/resolve/explanation.h"
#include "plugin/resolve/provider_plan.h"

namespace modlock {

// Why a provider has its version.
struct ProviderExplanation {
  std::optional<ProviderVersion> version;  // that is locked, or would be; nullopt: none can be
  std::vector<std::string> hashes;         // of the lock, where that is its version
  std::string reason;                      // a sentence's end
  std::vector<ExplainedStep> chain;
  Diagnostics diagnostics;  // what could not be told, and what stands in the way
};

// Explains a provider of a request: each constraint with its place and what it leaves of the versions that the source
// lists now, then what is locked. Where the source cannot be asked that is a warning, and the chain knows the locked
// version alone. `lock` and `lock_path` are for locations. Errors: INVALID_PARAMS (nothing needs such a provider);
// cancellation.
Result<ProviderExplanation> explain_provider(const ProviderPlanRequest& request, const std::string& subject,
                                             const LockFile& lock, const std::string& lock_path, ProviderSource& source,
                                             const Context& context);

}  // namespace modlock
