#pragma once

#include <filesystem>
#include <vector>

#include "backends/credentials/surroundings.h"
#include "plugin/config/tool.h"
#include "protocol/error.h"

namespace modlock {

struct ClientConfigurationFile {
  std::filesystem::path path;
  bool is_main = false;  // not one of the configuration directory
};

// The files that exist, in the order in which the client reads them. What a variable names and is not there goes into
// `warnings`.
std::vector<ClientConfigurationFile> client_configuration_files(Tool tool, const Surroundings& surroundings,
                                                                Diagnostics& warnings);

// Where `terraform-credentials-<name>` may lie, in order.
std::vector<std::string> helper_directories(Tool tool, const Surroundings& surroundings);

// Where a client that has no `provider_installation` looks for provider packages before it asks registries, in order;
// each may be missing. `root` is the directory it is started in.
std::vector<std::filesystem::path> implied_provider_directories(Tool tool, const Surroundings& surroundings,
                                                                const std::filesystem::path& root);

}  // namespace modlock
