#pragma once

#include <map>
#include <optional>
#include <string>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/address/version.h"
#include "plugin/engine/engine.h"
#include "plugin/resolve/plan.h"
#include "protocol/messages/lock_plan.h"
#include "protocol/messages/update_plan.h"

namespace modlock {

// Versions that have to be chosen in every mode.
struct WantedVersions {
  std::map<std::string, Version, std::less<>> modules = {};  // by key of the call
  std::map<ProviderAddress, ProviderVersion> providers = {};
  std::map<std::string, PlanRequest::FormerCall, std::less<>> former_calls = {};  // of PlanRequest
  Diagnostics* skipped = nullptr;                                                 // of PlanRequest
};

// Decides one `lock/plan`: modules first, then the providers that they need. `wanted` nullopt: none, and under mode
// missing the sides of a merge in progress are merged first. The changes of FROZEN and the diagnostics go to `run`,
// too. Errors: those of OpenRoot::open(), make_plan() and plan_providers().
Result<messages::LockPlanResult> plan_lock(const Engine& engine, messages::LockPlanParams params,
                                           std::optional<WantedVersions> wanted, Run& run);

// Decides one `update/plan`, and skips modules other than those of the updates that cannot be read (PlanRequest).
// Errors: those of plan_lock(), and those of the edits of the configuration.
Result<messages::LockPlanResult> plan_update(const Engine& engine, const messages::UpdatePlanParams& params,
                                             Diagnostics& skipped, Run& run);

}  // namespace modlock
