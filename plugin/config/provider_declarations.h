#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/address/provider_address.h"
#include "plugin/config/config_files.h"
#include "plugin/config/provider_requirement.h"
#include "plugin/value/client_kind.h"

// A module's declarations of providers, before they are put together (provider_requirement.h).
namespace modlock {

// One entry of required_providers.
struct RequiredProvider {
  ProviderAddress address;
  std::optional<SourceText> constraint = {};  // as written
  Location location = {};                     // of the entry
};

// Returns the entries of a module by local name: one block in the primary files, then those of override files, which
// replace whole entries. Entries without a usable address are left out and reported. A constraint that is not a
// constant string is left out and reported too. Other content of an entry is skipped.
std::map<std::string, RequiredProvider, std::less<>> read_required_providers(const std::vector<ConfigText>& files,
                                                                             ClientKind tool, Diagnostics& diagnostics);

// A provider block, the versions of override files merged.
struct ProviderBlock {
  std::string name;
  std::optional<SourceText> constraint = {};  // of the deprecated `version` argument
  Location location = {};                     // of the header
};

// Returns the provider blocks of a module or of test files, in file order, each name and alias once (in test files:
// once per file). Reports a version that is not a constant string.
std::vector<ProviderBlock> read_provider_blocks(const std::vector<ConfigText>& files, Diagnostics& diagnostics);

// A resource, data source, ephemeral resource or import block, and the provider that it belongs to.
struct ProviderUse {
  ProviderRequirement::DeclaredBy origin = ProviderRequirement::DeclaredBy::resource;
  std::string by;          // "data.aws_ami.this"
  std::string local_name;  // of the provider: the argument `provider` names it, else the type implies it
  Location location = {};  // of the header
};

// Returns those of a module in file order, override files merged, import blocks last. Reports a `provider` argument
// that is not a reference. Terraform takes no provider from import blocks for resources of other modules.
std::vector<ProviderUse> read_provider_uses(const std::vector<ConfigText>& files, ClientKind tool,
                                            Diagnostics& diagnostics);

}  // namespace modlock
