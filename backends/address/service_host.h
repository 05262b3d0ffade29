#pragma once

#include <optional>
#include <string_view>

#include "backends/address/hostname.h"

namespace modlock {

// The host of a registry address, `name[:port]`, in the two forms of its name, each with the port. ":443" is dropped
// and leading zeros of a port are. nullopt where OpenTofu's svchost takes no such host: no name, an empty label, a
// label in punycode, a port beyond 65535, and what lookup_host() refuses.
std::optional<HostForms> parse_service_host(std::string_view text);

}  // namespace modlock
