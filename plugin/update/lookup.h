#pragma once

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

namespace modlock {

// A version that a source offers, and how it is written where it takes the place of the current one. `value` nullopt:
// it cannot be written there, so it is no way to go.
struct OfferedVersion {
  Version version;
  std::string id = {};  // immutable: a commit, a digest; empty where only a fetch tells
};
using ValueOf = std::function<std::optional<std::string>(const OfferedVersion&)>;

// A way to go from the current version.
struct UpdateOption {
  Version version;
  std::string value;  // what the configuration would say
  std::string type;   // "major", "minor", "patch": the first number that differs
  std::string id;
  bool is_lock_only = false;  // the configuration stays as it is
};

// The newest offered version with the major number of `current`, and the newest with a higher one, as far as they are
// above it; of prereleases only where the current version is one. `current_value` is what the configuration says.
std::vector<UpdateOption> update_options(std::span<const OfferedVersion> offered, const Version& current,
                                         std::string_view current_value, const ValueOf& value_of);

// A module call or a provider, and where it may go. Words and meanings are Renovate's (its LookupResult and
// SkipReason).
struct Dependency {
  std::string subject;
  std::string type = {};        // "module", "required_provider"
  std::string name = {};        // what it is called there: "github.com/acme/vpc", "hashicorp/aws"
  std::string datasource = {};  // "terraform-module", "git-tags", "docker", "terraform-provider"
  Location location = {};       // where its version is decided
  std::string current_value = {};
  std::optional<Version> current_version = {};
  std::string current_id = {};      // where the configuration names it: a commit, a digest
  std::string locked_version = {};  // empty: it is not locked with one
  std::vector<UpdateOption> updates = {};
  // Why there are none: "local", "unsupported-datasource", "contains-variable", "unversioned-reference",
  // "unspecified-version"; empty: it was looked up.
  std::string skip_reason = {};
};

struct LookupRequest {
  const ModuleTree& tree;
  const ModuleLocks& modules;
  const ProviderLocks& providers;
  std::string_view default_host;
  std::vector<std::string> subjects = {};  // empty: all
};

struct UpdateLookup {
  std::vector<Dependency> dependencies;  // modules by key, then providers by address
  Diagnostics diagnostics;               // sources that could not be asked: their dependencies have no updates
};

// Looks up what is newer than the version in use, each source asked once. Of calls in packages and of providers that
// packages constrain only that counts which they allow. Errors: INVALID_PARAMS (a subject that is none); cancellation.
Result<UpdateLookup> look_up(const LookupRequest& request, SourceFetcher& fetcher, ProviderSource& providers,
                             const Context& context);

}  // namespace modlock
