#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/providers/provider_source.h"

namespace modlock {

// A source and the providers that it is asked for.
struct ProviderSelector {
  std::shared_ptr<ProviderSource> source;
  std::function<bool(const ProviderAddress&)> serves;
};

// Several sources as one (OpenTofu: internal/getproviders/multi_source.go). The versions of a provider are those of all
// sources that serve it; one that does not have the provider is passed over, any other failure is that of the whole,
// also that its host has no registry of providers, whatever a mirror has of it. A package comes from the first source
// that has it for its platform. Errors beside those of the sources: NOT_FOUND `provider <name> was not found in any of
// the search locations` where nothing lists a version, and `provider <name> <version> is not available for <platform>`.
std::unique_ptr<ProviderSource> make_multi_source(std::vector<ProviderSelector> selectors);

}  // namespace modlock
