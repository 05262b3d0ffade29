#include "plugin/update/update_options.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <utility>

#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "plugin/lock/locked_text.h"

namespace modlock {
namespace {

using messages::AvailableUpdate;
using Dependency = messages::LookedUpDependency;

std::string_view type_of(const Version& from, const Version& to) {
  if (from.numbers()[0] != to.numbers()[0]) {
    return "major";
  }
  return from.numbers()[1] != to.numbers()[1] ? "minor" : "patch";
}

// Returns the identifier of a prerelease without its number: "rc" of "rc.1". One that is a usual stage is "".
std::string_view stage_of(const Version& version) {
  constexpr std::array<std::string_view, 10> kStages = {"a",    "alpha", "b",       "beta", "dev",
                                                        "next", "pre",   "preview", "rc",   "snapshot"};
  const std::string_view text = version.prerelease();
  const std::string_view word = text.substr(0, text.find_first_of("0123456789.-"));
  const bool is_usual = contains(kStages, ascii::lower(word));
  return is_usual || word.empty() ? std::string_view() : text.substr(0, text.find_first_of("0123456789."));
}

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

bool may_follow(const Version& version, const Version& current) {
  return version.prerelease().empty() || (!current.prerelease().empty() && stage_of(version) == stage_of(current));
}

std::vector<AvailableUpdate> update_options(std::span<const OfferedVersion> offered, const Version& current,
                                            std::string_view current_value, const ValueOf& value_of) {
  struct Best {
    const OfferedVersion* offer = nullptr;
    std::string value = {};
  };
  std::map<bool, Best> found;  // by whether the major number is higher
  for (const OfferedVersion& offer : offered) {
    const bool is_major = type_of(current, offer.version) == "major";
    const Best* known = find_in(found, is_major);
    if (offer.version <= current || !may_follow(offer.version, current) ||
        (known != nullptr && known->offer->version >= offer.version)) {
      continue;
    }
    if (auto value = value_of(offer)) {
      found.insert_or_assign(is_major, Best{&offer, std::move(*value)});
    }
  }
  std::vector<AvailableUpdate> options;
  for (auto& [is_major, best] : found) {
    const Version& version = best.offer->version;
    options.push_back({.new_version = version.to_string(),
                       .new_value = best.value,
                       .update_type = std::string(type_of(current, version)),
                       .new_major = version.numbers()[0],
                       .new_minor = version.numbers()[1],
                       .new_digest = best.offer->id,
                       .is_breaking = is_major,
                       .is_lockfile_update = best.value == current_value});
  }
  return options;
}

Result<std::string> newest_version(const Dependency& dependency, std::string_view command) {
  const std::string& subject = dependency.subject;
  if (dependency.current_version.empty()) {
    const std::string reason = dependency.skip_reason.empty() ? "unspecified-version" : dependency.skip_reason;
    return fail(Error{.code = Code::invalid_params,
                      .message = fmt::format("cannot update {}: {}", subject, skip_words(reason)),
                      .subject = subject,
                      .hint = reason == "local" ? "name a module call with a remote source"
                                                : "to lock the newest content, run: " +
                                                      tofu_modlock("upgrade", "--target", subject)});
  }
  if (const AvailableUpdate* newest = find_by(dependency.updates, false, &AvailableUpdate::is_breaking)) {
    return newest->new_version;
  }
  const std::string current = fmt::format("{} {} is ", subject, dependency.current_version);
  Error error{.code = Code::no_matching_version, .message = current + "the newest version", .subject = subject};
  if (!dependency.pinned_by.empty()) {
    error.message = fmt::format("{}pinned by {}, and newer versions exist", current, dependency.pinned_by);
    error.hint = fmt::format("they need a newer version of {}; run: ", dependency.pinned_by) +
                 tofu_modlock(command, dependency.pinned_by);
  } else if (!dependency.updates.empty()) {
    const AvailableUpdate& major = dependency.updates.front();
    error.message += fmt::format(" below {}", major.new_major);
    error.hint = "for the new major version, run: " + tofu_modlock(command, subject + "=" + major.new_version);
  }
  return fail(std::move(error));
}

std::string moved_words(const Dependency& dependency) {
  const std::string& now = dependency.reference_now;
  return now.empty() ? ""
                     : fmt::format("{} ({})",
                                   dependency.is_moved       ? "moved"
                                   : now.starts_with("git:") ? "new commit"
                                                             : "new content",
                                   short_id(now));
}

std::string skip_words(const std::string& reason) {
  static const std::map<std::string_view, const char*> words = {
      {"local", "local module"},
      {"unsupported-datasource", "source type without versions"},
      {"contains-variable", "source not known before plan"},
      {"unversioned-reference", "its branch, tag or commit is not a version"},
      {"unspecified-version", "no version specified"}};
  const char* const* found = find_in(words, reason);
  return found == nullptr ? reason : *found;
}

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
    if (newest != updates.rend() && contains(subjects, subject)) {
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
  return filtered(modules, [&](const messages::LockedModule& module) {
    return !module.constraints && tag_prefix_of(module.ref) && !is_in_package(module.key) && is_target(module.key);
  });
}

}  // namespace modlock
