#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/store/store.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/provider_tree.h"
#include "plugin/settings/settings.h"

namespace modlock {

// The data with which providers are checked, in addition to the configuration.
struct ProviderSettings {
  LockFile lock;
  std::string lock_path;  // relative to the root, for locations
  std::string_view default_host = kOpenTofuRegistry;
  std::map<ProviderAddress, std::string> dev_overrides = {};  // are not checked
  std::string plugin_cache_directory = {};
};

struct ProviderCheck {
  const ProviderSettings& settings;
  std::filesystem::path directory;                              // `<data directory>/providers`
  std::map<ProviderAddress, std::vector<RequiredBy>> required;  // by the configuration
  Platform platform;
  std::vector<DenyRule> deny_rules = {};
  bool full = false;  // hash every file, even if its digest is known
};

// Compares the packages installed below `<directory>/<host>/<namespace>/<type>/<version>/<platform>` with the lock, as
// a client does before it starts a provider (Meta.providerFactories and Config.VerifyDependencySelections of OpenTofu).
// Returns a verdict for each locked provider and for each that the configuration requires (except built-in ones and
// those under dev_overrides), by address. Links into a plugin cache are followed.
// - held: the h1 of the directory is among the hashes, or the lock has no hash of a scheme that clients know;
// - missing: there is no such directory;
// - tampered: the lock has only other h1 hashes, or the directory cannot be hashed;
// - denied: a rule of the settings denies the locked version;
// - not-locked: required but not locked, or the constraints exclude the locked version, or there is no h1 to compare.
// Errors: REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<std::vector<Verdict>> check_providers(const ProviderCheck& check, const Store& store, const Context& context);

}  // namespace modlock
