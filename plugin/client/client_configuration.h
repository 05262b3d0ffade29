#pragma once

#include <string>

#include "backends/credentials/client_configuration.h"
#include "backends/credentials/process_environment.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// Reads the CLI configuration that the client would read (OpenTofu: internal/command/cliconfig):
// - the file that TF_CLI_CONFIG_FILE, else TERRAFORM_CONFIG names, and no other; else
// - ~/.tofurc, else ~/.terraformrc, else $XDG_CONFIG_HOME/opentofu/tofurc (Terraform: ~/.terraformrc), then
// - *.tfrc and *.tfrc.json of ~/.terraform.d, else of $XDG_CONFIG_HOME/opentofu, by name (Terraform: ~/.terraform.d).
// A later file replaces the `host` and `credentials` entries of an earlier one. Everything that is not about the
// network is passed over. A file or a block that is not as it should be is left out and is a warning (CONFIG_PARSE)
// that says the file, the line and what is wrong, never a value: a client prints such problems and goes on.
ClientConfiguration read_client_configuration(ClientKind tool, const ProcessEnvironment& environment);

// Tells one state of these files from another: a hash of where they are and what is in them.
std::string client_configuration_state(ClientKind tool, const ProcessEnvironment& environment);

}  // namespace modlock
