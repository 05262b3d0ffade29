#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/address/provider_address.h"
#include "plugin/config/config_files.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// One entry of required_providers.
struct RequiredProvider {
  ProviderAddress address;
  std::optional<SourceText> constraint = {};  // read_provider_constraint()
  std::vector<std::string> aliases = {};      // of configuration_aliases: "x" of aws.x; empty of aws alone
  Location location = {};                     // of the entry
  Range value_range = {};                     // of its value
  const ConfigText* file = nullptr;
};

// The required_providers of a module by local name: one block in the primary files, then those of override files, which
// replace whole entries. Entries without a usable address are left out and reported.
std::map<std::string, RequiredProvider, std::less<>> read_required_providers(const std::vector<ConfigText>& files,
                                                                             ClientKind tool, Diagnostics& diagnostics);

// The text if it passes ProviderConstraint::check_written(); else what is wrong is reported there. Whether it is a
// constraint in the dialect of providers, OpenTofu asks of those alone that count after override files were read, and
// so does provider_requirements().
std::optional<SourceText> read_provider_constraint(std::string text, Location location, Diagnostics& diagnostics);

}  // namespace modlock
