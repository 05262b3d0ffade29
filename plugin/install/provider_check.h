#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/store/store.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/provider_tree.h"
#include "plugin/settings/settings.h"

namespace modlock {

struct ProviderCheck {
  const LockFile& lock;
  std::string lock_path;                                        // relative to the root, for locations
  std::filesystem::path directory;                              // `<data directory>/providers`
  std::map<ProviderAddress, std::vector<RequiredBy>> required;  // by the configuration
  std::string_view default_host;
  std::map<ProviderAddress, std::string> dev_overrides;
  std::string plugin_cache_directory = {};  // empty: none
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
