#pragma once

#include <map>
#include <string>

#include "plugin/resolve/plan.h"
#include "plugin/resolve/source_fetcher.h"

namespace modlock {

// Calls of one registry module that OpenTofu resolves each on its own (resolution "auto") although no version satisfies
// all of them: one CONSTRAINT_CONFLICT warning per module, naming every call with its constraint. Judged by the listing
// where this run asked for it, else by the versions that were taken.
Diagnostics warn_of_unshared_versions(const ModuleTree& tree,
                                      const std::map<std::string, ResolvedModule, std::less<>>& resolved,
                                      const SourceFetcher& fetcher);

}  // namespace modlock
