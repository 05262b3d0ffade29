#pragma once

#include <map>
#include <string>

#include "backends/credentials/process_environment.h"
#include "plugin/value/client_kind.h"
#include "protocol/base/result.h"

namespace modlock {

// The services of hosts by name: "registry.example.com" -> "modules.v1" -> URL. Hosts in ASCII.
using ServicesByHost = std::map<std::string, std::map<std::string, std::string>>;

// The text of one CLI configuration file that makes a client read what it would read without it, and in which these
// services take the place of the hosts' own. It holds the secrets of the user's configuration.
//
// One file of the user is taken byte for byte, with `host` blocks added, in native syntax and in JSON; it is written
// anew only where its own `host` blocks have a form that would win over added ones (lists in JSON, say). Where the
// client reads several (~/.tofurc and ~/.terraform.d/*.tfrc), they become one by the rules of the client: of one host
// or one credentials block the later file counts, of one argument the first. Paths that are relative to their file
// become absolute. Errors: CONFIG_PARSE for a file that is not as it should be: a client would go on without it, and
// ask the hosts themselves; IO_ERROR.
Result<std::string> client_configuration_copy(ClientKind tool, const ProcessEnvironment& environment,
                                              const ServicesByHost& services);

}  // namespace modlock
