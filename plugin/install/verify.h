#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/backend.h"
#include "backends/store/store.h"
#include "plugin/install/data_directory.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/source_fetcher.h"

namespace modlock {

// What providers are judged by, beside the configuration.
struct ProviderSettings {
  LockFile lock;
  std::string lock_path;  // relative to the root, for locations
  std::string_view default_host = kOpenTofuRegistry;
  std::map<ProviderAddress, std::string> dev_overrides = {};  // are not judged
  std::string plugin_cache_directory = {};
};

struct VerifyRequest {
  WalkRequest walk;
  LockFile lock;
  std::string lock_path;  // relative to the root, for locations
  DataDirectory data;
  const BackendSet* backends = nullptr;  // which sources can be locked
  SourceFetcher* fetcher = nullptr;      // where the sources are to be asked too
  bool full = false;                     // hash every file, whatever is known of it
  bool strict = false;  // files that tofu leaves out or ignores count too, and so do sources that nobody serves
  bool modules = true;  // whether modules are judged
  std::optional<ProviderSettings> providers = {};  // whether providers are
};

struct VerifyReport {
  std::vector<Verdict> verdicts;  // by subject
  Diagnostics diagnostics;        // errors: sources that did not answer, override files that lead elsewhere
  bool ok() const;
  int exit_code() const;  // of the worst verdict or error
};

// Compares what is installed below the data directory with the lock, without any request; with an origin then what the
// sources of modules give now. Every called module gets a verdict, every lock entry that no call has, and every
// provider as check_providers() says; those under dev_overrides get a warning. Errors: an unreadable configuration (the
// worst of its errors), an unreadable manifest, cancellation.
Result<VerifyReport> verify_root(const VerifyRequest& request, const Store& store, const Context& context);

}  // namespace modlock
