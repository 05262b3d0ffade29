#pragma once

#include <map>
#include <string>

#include "backends/base/environment.h"
#include "plugin/value/client_kind.h"
#include "protocol/base/result.h"

namespace modlock {

// The services of hosts by name: "registry.example.com" -> "modules.v1" -> URL. Hosts in ASCII.
using ServicesByHost = std::map<std::string, std::map<std::string, std::string>>;

// Returns the text of one CLI configuration file that replaces the client's own files and overrides the services of
// these hosts. It contains the secrets of the user's configuration.
//
// A single user file is copied byte for byte, with `host` blocks added, in native syntax and in JSON. It is rewritten
// only if its own `host` blocks have a form that would override added ones (for example lists in JSON). If the client
// reads several files (~/.tofurc and ~/.terraform.d/*.tfrc), they are merged by the rules of the client: the later file
// wins for a host or credentials block, the first for an argument. Paths relative to their file become absolute.
// Errors: CONFIG_PARSE for an invalid file, because a client would ignore it and contact the hosts directly; IO_ERROR.
Result<std::string> client_configuration_copy(ClientKind tool, const ProcessEnvironment& environment,
                                              const ServicesByHost& services);

}  // namespace modlock
