#pragma once

#include <map>
#include <optional>
#include <string>

#include "backends/provider_address.h"
#include "backends/provider_version.h"
#include "backends/version.h"
#include "plugin/server/run_clock.h"
#include "plugin/server/service.h"
#include "protocol/messages/lock_plan.h"
#include "protocol/method_table.h"

namespace modlock {

// Versions that have to be chosen, whatever the mode.
struct WantedVersions {
  std::map<std::string, Version, std::less<>> modules = {};  // by key of the call
  std::map<ProviderAddress, ProviderVersion> providers = {};
};

// Decides one `lock/plan`: modules first, then the providers that those need. `wanted` nullopt: none, and under mode
// missing the sides of a merge that is under way are merged first. The changes of FROZEN go to
// `request.error_data`, the diagnostics also to `request`. Errors: those of open_root(), open_lock(), make_plan() and
// plan_providers().
Result<messages::LockPlanResult> plan_lock(const Service& service, messages::LockPlanParams params,
                                           std::optional<WantedVersions> wanted, RequestContext& request,
                                           RunClock& clock);

}  // namespace modlock
