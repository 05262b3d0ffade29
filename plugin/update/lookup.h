#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/version.h"
#include "backends/providers/provider_source.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/source_fetcher.h"
#include "protocol/messages/update_lookup.h"

namespace modlock {

// A version that a source offers, and the text that replaces the current version. `value` nullopt: it cannot be written
// there, so it is not an option.
struct OfferedVersion {
  Version version;
  std::string id = {};  // immutable: a commit, a digest; empty if only a fetch shows it
};
using ValueOf = std::function<std::optional<std::string>(const OfferedVersion&)>;

// A possible update of the current version.
struct UpdateOption {
  Version version;
  std::string value;  // the new text in the configuration
  std::string type;   // "major", "minor", "patch": the first number that differs
  std::string id;
  bool is_lock_only = false;  // the configuration stays unchanged
};

// Returns the newest offered version with the major number of `current`, and the newest with a higher one, if they are
// above it. Includes prereleases only if the current version is one. `current_value` is the text in the configuration.
std::vector<UpdateOption> update_options(std::span<const OfferedVersion> offered, const Version& current,
                                         std::string_view current_value, const ValueOf& value_of);

// A module call or a provider, and its possible updates. Names and meanings are Renovate's (its LookupResult and
// SkipReason).
struct Dependency {
  std::string subject;
  std::string type = {};        // "module", "required_provider"
  std::string name = {};        // its name there: "github.com/acme/vpc", "hashicorp/aws"
  std::string datasource = {};  // "terraform-module", "git-tags", "docker", "terraform-provider"
  Location location = {};       // where its version is specified
  std::string current_value = {};
  std::optional<Version> current_version = {};
  std::string current_id = {};      // if the configuration names it: a commit, a digest
  std::string locked_version = {};  // empty: it is not locked with a version
  std::string ref = {};             // that the source names
  std::string origin = {};          // locked: "git:…", "oci:…"
  std::vector<UpdateOption> updates = {};
  std::string pinned_by = {};  // the call whose package allows no newer version, although there is one
  // Why there are no updates: "local", "unsupported-datasource", "contains-variable", "unversioned-reference",
  // "unspecified-version"; empty: it was looked up, or a diagnostic of the tree has the reason.
  std::string skip_reason = {};
};

struct LookupRequest {
  const ModuleTree& tree;
  const ModuleLocks& modules;
  const ProviderLocks& providers;
  std::string_view default_host;
  std::vector<std::string> subjects = {};  // empty: all
  // Returns the minimum release age of a module source; zero, or no function: none.
  std::function<std::chrono::seconds(const Source&)> minimum_age = {};
  std::vector<DenyRule> deny_rules = {};  // a locked version that one denies is a diagnostic
};

struct UpdateLookup {
  std::vector<Dependency> dependencies;  // modules by key, then providers by address
  Diagnostics diagnostics;               // sources that could not be queried: their dependencies have no updates
};

// Looks up versions newer than the one in use. Queries each source once. For calls in packages, and for providers that
// packages constrain, returns only versions that the packages allow. Returns no version that is denied, and none of a
// module that is newer than the minimum release age. If there are subjects, newer versions of modules that are denied
// are diagnostics (info). Errors: INVALID_PARAMS (an invalid subject); cancellation.
Result<UpdateLookup> look_up(const LookupRequest& request, SourceFetcher& fetcher, ProviderSource& providers,
                             const Context& context);

// Returns the version that an update without a requested one selects: the newest below the next major number. Errors:
// NO_MATCHING_VERSION (the current one stays, and the hint says how `command` selects a newer one); INVALID_PARAMS (the
// dependency has no versions).
Result<std::string> newest_version(const messages::LookedUpDependency& dependency, std::string_view command);

// Returns a skip reason in words.
std::string skip_words(const std::string& reason);

}  // namespace modlock
