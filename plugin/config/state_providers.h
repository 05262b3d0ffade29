#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugin/config/parsed_module.h"

namespace modlock {

// The providers that the state of a root uses.
struct StateProviders {
  std::vector<ProviderRequirement> providers;  // origin state, sorted by address, each once
  // Why the state could not be asked, so that nothing may be concluded from a provider's absence: it is encrypted, or
  // kept by a backend other than "local" or out of the bounds. Empty: it was read, or there is none.
  std::string unreadable = {};
  Diagnostics diagnostics = {};
};

// Where the module's backend and cloud blocks, override files merged, say that state lies.
StateStorage read_state_storage(const std::vector<ConfigText>& files);

// Reads the local state of version 4 of the selected workspace. Addresses on registry.terraform.io that the
// configuration does not require are translated to OpenTofu's registry, as OpenTofu does (`required` are the addresses
// of the configuration), for ClientKind::opentofu. What "init" recorded of the backend in `data_directory` counts for
// the arguments that the configuration leaves open. Nothing out of the `bounds` is read. Diagnostics: providers without
// namespace, as Terraform 0.12 wrote them. Errors: IO_ERROR, CONFIG_PARSE (no JSON, another version, an address that is
// none), naming the file.
Result<StateProviders> read_state_providers(const std::filesystem::path& root, const StateStorage& storage,
                                            const std::filesystem::path& data_directory, const std::string& workspace,
                                            ClientKind tool, const std::vector<ProviderAddress>& required,
                                            const Documents& documents,
                                            const std::vector<std::filesystem::path>& bounds);

}  // namespace modlock
