#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/providers/provider_source.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/source_fetcher.h"
#include "plugin/update/update_options.h"
#include "protocol/messages/update_lookup.h"

namespace modlock {

struct LookupRequest {
  const ModuleTree& tree;
  const ModuleLocks& modules;
  const ProviderLocks& providers;
  std::string_view default_host;
  std::vector<std::string> subjects = {};  // empty: all
  Settings settings = {};  // the ages and deny rules apply; a locked version that is denied is a diagnostic
};

// Looks up versions newer than the one in use. Queries each source once. For calls in packages, and for providers that
// packages constrain, returns only versions that the packages allow. Returns no version that is denied or newer than
// the minimum release age. If there are subjects, newer versions of modules that are denied are diagnostics (info). A
// source that cannot be queried is a diagnostic, and its dependencies have no updates. Errors: INVALID_PARAMS (an
// invalid subject); cancellation.
Result<messages::UpdateLookupResult> look_up(const LookupRequest& request, SourceFetcher& fetcher,
                                             ProviderSource& providers, const Context& context);

}  // namespace modlock
