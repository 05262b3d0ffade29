#pragma once

#include <filesystem>

#include "plugin/resolve/plan.h"

namespace modlock {

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
