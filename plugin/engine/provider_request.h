#pragma once

#include "plugin/engine/open_root.h"
#include "plugin/resolve/provider_plan.h"

namespace modlock {

// Returns the providers that the state of a root uses; `tree` contains the location of its state. Errors: those of
// read_state_providers().
Result<StateProviders> read_state(const RootRequest& root, const ModuleTree& tree);

// Creates the `lock/plan` request for the providers of a tree. Problems of the state go to `diagnostics`. Errors:
// INVALID_PARAMS (an invalid platform, several for the hashes of `init`, a target that no module needs); those of
// read_state() and find_needs().
Result<ProviderPlanRequest> make_provider_request(const OpenRoot& open, const ModuleTree& tree,
                                                  const messages::LockPlanParams& params, Diagnostics& diagnostics);

// Returns the rules, in addition to the release itself, that decide which of its hashes a client records.
std::string release_rules(const ClientProgram& implementation);

// Reads the minimum release age of one run; empty: none. Errors: INVALID_PARAMS.
Result<std::optional<std::chrono::seconds>> requested_age(const std::string& text);

// Returns the mode of a request.
PlanMode parse_mode(const std::string& text);

// Returns the targets that are not providers.
std::vector<std::string> module_targets(const std::vector<std::string>& targets);

// Converts the providers of a plan to messages.
std::vector<messages::LockedProvider> to_messages(const ProviderPlan& plan);

}  // namespace modlock
