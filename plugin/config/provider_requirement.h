#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "plugin/config/config_files.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// One reason for which a module needs a provider. OpenTofu's Config.ProviderRequirements has the rules.
struct ProviderRequirement {
  enum class DeclaredBy { required_providers, provider_block, resource, data, ephemeral, import_block, state };
  ProviderAddress address;
  std::string local_name;
  DeclaredBy origin = DeclaredBy::required_providers;
  std::string by = {};                        // what implies it: "aws_instance.web", "data.aws_ami.this"; else empty
  std::optional<SourceText> constraint = {};  // as written; ProviderConstraint::parse() takes it
  Location location = {};                     // of the entry, of the provider block's or resource's header
};

// The requirements of one module: each entry of required_providers (override files replace whole entries), provider
// blocks (their deprecated `version` is a constraint), and the first resource, data source (check blocks included),
// ephemeral resource or import block that uses a local name which nothing declares. Sorted by address, then as read.
// Of test files the provider blocks count. Diagnostics: requirements that cannot be read; they are left out, or their
// constraint is.
std::vector<ProviderRequirement> provider_requirements(const std::vector<ConfigText>& files, ClientKind tool,
                                                       Diagnostics& diagnostics);

// Test files have no required_providers: the local names in their provider blocks are those of the root module. Gives
// `requirements` (of test files) the addresses that the entries among `declared` (of the root) have for their names.
void resolve_local_names(std::vector<ProviderRequirement>& requirements,
                         const std::vector<ProviderRequirement>& declared);

}  // namespace modlock
