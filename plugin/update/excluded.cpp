#include "plugin/update/excluded.h"

#include <algorithm>
#include <iterator>

#include "plugin/lock/locked_text.h"

namespace modlock {
namespace {

std::optional<Location> constraint_location(const messages::ConfigInspectResult& inspected,
                                            const std::string& subject) {
  for (const messages::InspectedModule& module : inspected.modules) {
    if ("module." + module.key == subject && !module.constraint_locations.empty()) {
      return module.constraint_locations.front();
    }
  }
  for (const messages::InspectedProvider& provider : inspected.providers) {
    if ("provider." + provider.address == subject && !provider.constraints.empty()) {
      return provider.constraints.front().location;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> constrained_subjects(const messages::LockPlanResult& plan, const messages::Include& include) {
  std::vector<std::string> subjects;
  for (const messages::LockedModule& module : plan.modules) {
    if (include.modules && module.constraints) {
      subjects.push_back("module." + module.key);
    }
  }
  for (const messages::LockedProvider& provider : plan.providers) {
    if (include.providers) {
      subjects.push_back("provider." + provider.address);
    }
  }
  return subjects;
}

std::vector<ExcludedVersion> excluded_versions(const std::vector<std::string>& subjects,
                                               const messages::UpdateLookupResult& found,
                                               const messages::ConfigInspectResult* inspected) {
  std::vector<ExcludedVersion> excluded;
  for (const messages::LookedUpDependency& dependency : found.dependencies) {
    const auto& updates = dependency.updates;
    const auto newest =
        std::find_if(updates.rbegin(), updates.rend(), [](const auto& update) { return !update.is_lockfile_update; });
    const std::string& subject = dependency.subject;
    if (newest != updates.rend() && std::ranges::find(subjects, subject) != subjects.end()) {
      excluded.push_back({subject, dependency.current_version, newest->new_version, dependency.current_value,
                          inspected == nullptr ? std::nullopt : constraint_location(*inspected, subject)});
    }
  }
  return excluded;
}

std::vector<messages::LockedModule> pinned_calls(const std::vector<messages::LockedModule>& modules,
                                                 const std::vector<std::string>& targets) {
  const auto is_target = [&](const std::string& key) {
    return targets.empty() || std::ranges::any_of(targets, [&](const std::string& target) {
             return target == key || target == "module." + key;
           });
  };
  const auto is_in_package = [&](const std::string& key) {
    return std::ranges::any_of(modules, [&](const auto& caller) { return key.starts_with(caller.key + "."); });
  };
  std::vector<messages::LockedModule> pinned;
  std::ranges::copy_if(modules, std::back_inserter(pinned), [&](const messages::LockedModule& module) {
    return !module.constraints && tag_prefix_of(module.ref) && !is_in_package(module.key) && is_target(module.key);
  });
  return pinned;
}

}  // namespace modlock
