#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "plugin/install/data_directory.h"
#include "plugin/install/provider_check.h"
#include "plugin/install/verdict.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/source_fetcher.h"

namespace modlock {

struct VerifyRequest {
  WalkRequest walk;
  LockFile lock;
  ModuleLocks known_locks = {};  // for unmatched_rules()
  std::string lock_path;         // relative to the root, for locations
  DataDirectory data;
  const BackendSet* backends = nullptr;  // define which sources can be locked
  SourceFetcher* fetcher = nullptr;      // if set, the sources are queried too
  bool full = false;                     // hash every file, even if its digest is known
  bool strict = false;  // also reports files that tofu does not copy or load, and sources without a backend
  bool in_ci = false;   // with this or `strict`, a block of an unknown type with a source is not locked
  bool modules = true;
  std::optional<ProviderSettings> providers = {};  // if set, providers are checked
};

struct VerifyReport {
  std::vector<Verdict> verdicts;  // by subject
  Diagnostics diagnostics;        // errors: sources that failed to answer, override files that name another source
  ModuleTree tree;                // as it was read
};

// Compares the packages installed below the data directory with the lock, without network access. With a fetcher it
// then checks the current state of the modules' sources. Returns a verdict for every remote module that is called,
// every module entry of the lock without a call, and every provider as check_providers() does. A locked provider under
// dev_overrides gets only a warning. So does a call with neither a backend nor a lock entry, unless `strict`. Errors:
// an unreadable configuration (the worst of its errors), an unreadable manifest, cancellation.
Result<VerifyReport> verify_root(const VerifyRequest& request, const Store& store, const Context& context);

}  // namespace modlock
