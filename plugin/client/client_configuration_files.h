#pragma once

#include <filesystem>
#include <vector>

#include "backends/credentials/process_environment.h"
#include "plugin/value/client_kind.h"
#include "protocol/base/error.h"

namespace modlock {

struct ClientConfigurationFile {
  std::filesystem::path path;
  bool is_main = false;  // not one of the configuration directory
};

// The files that exist, in the order in which the client reads them. What a variable names and is not there goes into
// `warnings`.
std::vector<ClientConfigurationFile> client_configuration_files(ClientKind tool, const ProcessEnvironment& environment,
                                                                Diagnostics& warnings);

// Where `terraform-credentials-<name>` may lie, in order.
std::vector<std::string> helper_directories(ClientKind tool, const ProcessEnvironment& environment);

// Where a client that has no `provider_installation` looks for provider packages before it asks registries, in order;
// each may be missing. `root` is the directory it is started in.
std::vector<std::filesystem::path> implied_provider_directories(ClientKind tool, const ProcessEnvironment& environment,
                                                                const std::filesystem::path& root);

}  // namespace modlock
