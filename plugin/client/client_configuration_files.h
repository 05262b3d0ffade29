#pragma once

#include <filesystem>
#include <vector>

#include "backends/credentials/process_environment.h"
#include "plugin/value/client_kind.h"
#include "protocol/base/error.h"

namespace modlock {

struct ClientConfigurationFile {
  std::filesystem::path path;
  bool is_main = false;  // false: in the configuration directory
};

// Returns false for a path that cannot be examined too.
bool is_there(const std::filesystem::path& path);

// Returns the existing files, in the order in which the client reads them. Adds a warning if a variable names a file
// that does not exist.
std::vector<ClientConfigurationFile> client_configuration_files(ClientKind tool, const ProcessEnvironment& environment,
                                                                Diagnostics& warnings);

// The directories that may contain `terraform-credentials-<name>`, in order.
std::vector<std::string> helper_directories(ClientKind tool, const ProcessEnvironment& environment);

// The directories that a client without `provider_installation` searches for provider packages before it queries
// registries, in order; each may be missing. `root` is the working directory of the client.
std::vector<std::filesystem::path> implied_provider_directories(ClientKind tool, const ProcessEnvironment& environment,
                                                                const std::filesystem::path& root);

}  // namespace modlock
