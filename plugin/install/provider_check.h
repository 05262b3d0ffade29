#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "backends/address/platform.h"
#include "backends/store/store.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/provider_tree.h"

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
  bool full = false;  // hash every file, whatever is known of it
};

// Judges what is installed below `<directory>/<host>/<namespace>/<type>/<version>/<platform>` by the lock, as a client
// does before it starts a provider (Meta.providerFactories and Config.VerifyDependencySelections of OpenTofu). A
// verdict for each locked provider and each that the configuration requires, by address; links into a plugin cache are
// followed. held: the h1 of the directory is among the hashes, or the lock has none of a scheme that clients know.
// missing: no such directory. tampered: an h1 is locked, and not this one; the directory cannot be hashed. not-locked:
// required and not locked; locked at a version that the constraints exclude; no h1 to compare with. Those under
// dev_overrides are passed over. Errors: REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<std::vector<Verdict>> check_providers(const ProviderCheck& check, const Store& store, const Context& context);

}  // namespace modlock
