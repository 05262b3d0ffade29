#pragma once

#include <memory>

#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credentials.h"
#include "backends/credentials/process_environment.h"

namespace modlock {

// The credentials that the client would use: from what its configuration says and from the environment, by OpenTofu's
// own rules (internal/command/cliconfig, its ociauthconfig, go-getter's netrc). Nothing is read or run before it is
// asked for. Programs are run only where the user's own files name them, without TF_TOKEN_* in their environment.
std::unique_ptr<Credentials> make_credentials(ClientConfiguration configuration, ProcessEnvironment environment);

}  // namespace modlock
