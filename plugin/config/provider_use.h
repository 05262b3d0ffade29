#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/config/provider_reference.h"
#include "plugin/config/provider_requirement.h"

namespace modlock {

// A provider block, the versions of override files merged.
struct ProviderBlock {
  std::string name;
  std::string alias = {};
  std::optional<SourceText> constraint = {};  // of the deprecated `version` argument
  Location location = {};                     // of the header
  bool is_configured = false;                 // it holds more than its alias; what override files add does not count
  bool is_repeated = false;                   // it has for_each
};

// The provider blocks of a module or of test files, in file order, each name and alias once (in test files: once per
// file). Reported: a name that is none, a version that is none, and that the argument is deprecated.
std::vector<ProviderBlock> read_provider_blocks(const std::vector<ConfigText>& files, Diagnostics& diagnostics);

// A resource, data source, ephemeral resource or import block, and the provider that it belongs to.
struct ProviderUse {
  ProviderRequirement::DeclaredBy origin = ProviderRequirement::DeclaredBy::resource;
  std::string by;                                   // "data.aws_ami.this"
  std::string local_name;                           // of the provider, in normal form
  bool implied = true;                              // taken from the type, not from a `provider` argument
  Location location = {};                           // of the header
  std::optional<ProviderReference> reference = {};  // the `provider` argument
};

// Those of a module in file order, override files merged, import blocks last. What names no provider is reported and
// left out; an import block whose provider contradicts the resource's is reported. Terraform takes no provider from
// import blocks for resources of other modules.
std::vector<ProviderUse> read_provider_uses(const std::vector<ConfigText>& files, ClientKind tool,
                                            Diagnostics& diagnostics);

}  // namespace modlock
