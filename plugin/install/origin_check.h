#pragma once

#include <map>
#include <span>
#include <string>

#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/source_fetcher.h"

namespace modlock {

// A call whose source a backend serves, and the entry that counts for it.
struct LockedCall {
  const ModuleNode* node = nullptr;
  const ModuleLock* lock = nullptr;
};

struct OriginFindings {
  std::map<std::string, Verdict> verdicts;  // by key: moved, vanished, update_available and tampered alone
  Diagnostics diagnostics;                  // an error for each source that did not answer; warnings
};

// Asks the sources of all calls at once what became of what is locked: one listing per package, one question per
// reference. A commit or digest that the configuration names cannot move: there only the repository can be gone. A
// registry and an archive say what their content is with the content alone, so it is fetched (into the store). So is
// the package of a locked commit or digest that the store does not know, to see whether its content has the locked h1.
OriginFindings check_origins(std::span<const LockedCall> calls, SourceFetcher& fetcher, const Context& context);

}  // namespace modlock
