#pragma once

#include <map>
#include <string>
#include <vector>

#include "plugin/config/provider_use.h"
#include "plugin/config/required_providers.h"

namespace modlock {

// What a module writes of providers, read once; required_providers.h and provider_use.h say what each part is.
struct ProviderDeclarations {
  std::map<std::string, RequiredProvider, std::less<>> required = {};  // by local name
  std::vector<ProviderBlock> blocks = {};
  std::vector<ProviderUse> uses = {};
};

ProviderDeclarations read_written_providers(const std::vector<ConfigText>& files, ClientKind tool,
                                            Diagnostics& diagnostics);

}  // namespace modlock
