#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/version.h"
#include "protocol/base/result.h"
#include "protocol/messages/config_inspect.h"
#include "protocol/messages/lock_plan.h"
#include "protocol/messages/update_lookup.h"

namespace modlock {

// A version that a source offers, and the text that replaces the current version. `value` nullopt: it cannot be written
// there, so it is not an option.
struct OfferedVersion {
  Version version;
  std::string id = {};  // immutable: a commit, a digest; empty if only a fetch shows it
  std::string tag = {};
};
using ValueOf = std::function<std::optional<std::string>(const OfferedVersion&)>;

// Returns the newest offered version with the major number of `current`, and the newest with a higher one, if they are
// above it and have a value. Includes prereleases only if the current version is one (may_follow()). `current_value` is
// the text in the configuration.
std::vector<messages::AvailableUpdate> update_options(
    std::span<const OfferedVersion> offered, const Version& current, std::string_view current_value = {},
    const ValueOf& value_of = [](const auto&) { return ""; });

// Returns whether a version may follow another one: a release always, and a prerelease of the same identifier, since
// repositories of several modules tag "0.1.0-network".
bool may_follow(const Version& version, const Version& current);

// Returns the version that an update without a requested one selects: the newest below the next major number. Errors:
// NO_MATCHING_VERSION (the current one stays, and the hint says how `command` selects a newer one); INVALID_PARAMS (the
// dependency has no versions).
Result<std::string> newest_version(const messages::LookedUpDependency& dependency, std::string_view command);

// Returns "moved (8f2c01ab34cd)" or "new commit (8f2c01ab34cd)" of a dependency whose tag or branch points to something
// else than is locked; empty: it does not, or that is not known.
std::string moved_words(const messages::LookedUpDependency& dependency);

// Returns a skip reason in words.
std::string skip_words(const std::string& reason);

// What an upgrade did not select, because the configuration excludes it.

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
