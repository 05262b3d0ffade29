#pragma once

#include <string>

#include "backends/credentials/client_configuration.h"
#include "backends/credentials/process_environment.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// Reads the CLI configuration that the client would read (OpenTofu: internal/command/cliconfig):
// - only the file that TF_CLI_CONFIG_FILE, else TERRAFORM_CONFIG names; else
// - ~/.tofurc, else ~/.terraformrc, else $XDG_CONFIG_HOME/opentofu/tofurc (Terraform: ~/.terraformrc), then
// - *.tfrc and *.tfrc.json of ~/.terraform.d, else of $XDG_CONFIG_HOME/opentofu, by name (Terraform: ~/.terraform.d).
// A later file replaces the `host` and `credentials` entries of an earlier one. Settings unrelated to the network are
// ignored. An invalid file or block is left out and causes a warning (CONFIG_PARSE) with the file, the line and the
// problem, never a value: a client prints such problems and continues.
ClientConfiguration read_client_configuration(ClientKind tool, const ProcessEnvironment& environment);

// Returns a hash of the locations and contents of these files. It changes whenever they change.
std::string client_configuration_state(ClientKind tool, const ProcessEnvironment& environment);

}  // namespace modlock
