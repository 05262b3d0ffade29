#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugin/config/parsed_module.h"

namespace modlock {

struct StateProviders {
  std::vector<ProviderRequirement> providers;  // origin state, sorted by address, each once
  // Why the state could not be read: it is encrypted, kept by a backend other than "local", or out of the bounds. Then
  // the absence of a provider proves nothing. Empty: it was read, or none exists.
  std::string unreadable = {};
  Diagnostics diagnostics = {};
};

// Returns the location of the state from the module's backend and cloud blocks, override files merged.
StateStorage read_state_storage(const std::vector<ConfigText>& files);

// Reads the local state of version 4 of the selected workspace. For ClientKind::opentofu, addresses on
// registry.terraform.io that the configuration does not require are translated to OpenTofu's registry, as OpenTofu does
// (`required` are the addresses of the configuration). Arguments that the configuration leaves open are taken from the
// backend that "init" recorded in `data_directory`. Reads nothing outside of the `bounds`. Diagnostics: providers
// without namespace, as Terraform 0.12 wrote them. Errors: IO_ERROR, CONFIG_PARSE (invalid JSON, another version, an
// invalid address), naming the file.
Result<StateProviders> read_state_providers(const std::filesystem::path& root, const StateStorage& storage,
                                            const std::filesystem::path& data_directory, const std::string& workspace,
                                            ClientKind tool, const std::vector<ProviderAddress>& required,
                                            const Documents& documents,
                                            const std::vector<std::filesystem::path>& bounds);

}  // namespace modlock
