#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/base/environment.h"
#include "backends/credentials/client_configuration.h"
#include "plugin/value/client_kind.h"
#include "protocol/base/error.h"

namespace modlock {

// Reads the CLI configuration that the client would read (OpenTofu: internal/command/cliconfig):
// - only the file that TF_CLI_CONFIG_FILE, else TERRAFORM_CONFIG names; else
// - ~/.tofurc, else ~/.terraformrc, else $XDG_CONFIG_HOME/opentofu/tofurc (Terraform: ~/.terraformrc), then
// - *.tfrc and *.tfrc.json of ~/.terraform.d, else of $XDG_CONFIG_HOME/opentofu, by name (Terraform: ~/.terraform.d).
// A later file replaces the `host` and `credentials` entries of an earlier one. Settings unrelated to the network are
// ignored. An invalid file or block is left out and causes a warning (CONFIG_PARSE) with the file, the line and the
// problem, never a value: a client prints such problems and continues.
ClientConfiguration read_client_configuration(ClientKind tool, const ProcessEnvironment& environment,
                                              std::vector<std::string> credential_programs = {});

// Returns a hash of the locations and contents of these files. It changes whenever they change.
std::string client_configuration_state(ClientKind tool, const ProcessEnvironment& environment);

struct ClientConfigurationFile {
  std::filesystem::path path;
  bool is_main = false;  // false: in the configuration directory
};

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
