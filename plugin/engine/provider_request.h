#pragma once

#include "plugin/engine/root_request.h"
#include "plugin/resolve/provider_plan.h"

namespace modlock {

// The providers that the state of a root uses; `tree` says where its state lies. Errors: those of
// read_state_providers().
Result<StateProviders> read_state(const RootRequest& root, const ModuleTree& tree);

// What `lock/plan` asks about the providers of a tree. What the state says wrong goes to `diagnostics`. Errors:
// INVALID_PARAMS (a platform that is none, several for the hashes of `init`, a target that no module needs); those of
// read_state() and find_needs().
Result<ProviderPlanRequest> make_provider_request(const RootRequest& root, const LockDocument& lock,
                                                  const ModuleTree& tree, const messages::LockPlanParams& params,
                                                  Diagnostics& diagnostics);

// What decides, besides the release itself, which of its hashes a client records.
std::string release_rules(const ClientProgram& implementation);

// The mode that a request names.
PlanMode parse_mode(const std::string& text);

// Of targets those that are no providers.
std::vector<std::string> module_targets(const std::vector<std::string>& targets);

// The providers of a plan as messages.
std::vector<messages::LockedProvider> to_messages(const ProviderPlan& plan);

}  // namespace modlock
