#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/config_inspect.h"
#include "protocol/messages/lock_plan.h"
#include "protocol/messages/update_lookup.h"

// What an upgrade did not select, because the configuration excludes it.
namespace modlock {

// Returns the modules of a plan that have constraints, and its providers, of the included kinds.
std::vector<std::string> constrained_subjects(const messages::LockPlanResult& plan, const messages::Include& include);

// A newer version that a constraint excludes.
struct ExcludedVersion {
  std::string subject;
  std::string current;
  std::string newest;
  std::string constraint;
  std::optional<Location> location;  // of the first constraint; nullopt: not known
};
// Returns the newest one of each of these subjects. `inspected`, if it is known, has the locations.
std::vector<ExcludedVersion> excluded_versions(const std::vector<std::string>& subjects,
                                               const messages::UpdateLookupResult& found,
                                               const messages::ConfigInspectResult* inspected);

// Returns the module calls of the configuration that a tag in their source pins, of the targets or, without any, of
// all. Calls in packages are not of the configuration.
std::vector<messages::LockedModule> pinned_calls(const std::vector<messages::LockedModule>& modules,
                                                 const std::vector<std::string>& targets);

}  // namespace modlock
