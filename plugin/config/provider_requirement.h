#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/address/provider_address.h"
#include "plugin/config/config_files.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// One reason why a module needs a provider, by the rules of OpenTofu's Config.ProviderRequirements.
struct ProviderRequirement {
  enum class DeclaredBy { required_providers, provider_block, resource, data, ephemeral, action, import_block, state };
  ProviderAddress address;
  std::string local_name;
  DeclaredBy origin = DeclaredBy::required_providers;
  std::string by = {};                        // the object that implies it, such as "aws_instance.web"; else empty
  std::optional<SourceText> constraint = {};  // as written, for ProviderConstraint::parse()
  Location location = {};                     // of the entry, of the provider block's or resource's header
};

// Returns the requirements of one module: each entry of required_providers (override files replace whole entries),
// provider blocks (their deprecated `version` is a constraint), and the first resource, data source (check blocks
// included), ephemeral resource, action (Terraform) or import block that uses an undeclared local name. Sorted by
// address, then in reading order. In test files only provider blocks are requirements. Diagnostics: requirements or
// constraints that cannot be read, which are left out.
std::vector<ProviderRequirement> provider_requirements(const std::vector<ConfigText>& files, ClientKind tool,
                                                       Diagnostics& diagnostics);

// Test files have no required_providers: the local names in their provider blocks are those of the root module. Sets
// the addresses of `requirements` (of test files) to those of the entries with the same names in `declared` (of the
// root).
void resolve_local_names(std::vector<ProviderRequirement>& requirements,
                         const std::vector<ProviderRequirement>& declared);

}  // namespace modlock
