#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace modlock {

// A host name in the two forms IDNA gives it, both mapped to lower case.
struct HostForms {
  std::string ascii;    // for comparison and for the network: "xn--bcher-kva.example"
  std::string display;  // for a person and for the configuration: "bücher.example"
};

// A name without port, as RFC 5891 looks it up (UTS 46, non-transitional, STD3 rules). nullopt where it is not valid.
// IPv4 addresses are names to this; IPv6 addresses are not.
std::optional<HostForms> lookup_host(std::string_view name);

// The name of "name:port" (or "[address]:port") and ":port" with its colon.
std::pair<std::string, std::string> split_port(std::string_view host);

// "name:port" with the name as lookup_host() has it in ASCII; as it is where that takes no such name.
std::string host_in_ascii(const std::string& host);

// The host of a registry address, `name[:port]`, in the two forms of its name, each with the port. ":443" is dropped
// and leading zeros of a port are. nullopt where OpenTofu's svchost takes no such host: no name, an empty label, a
// label in punycode, a port beyond 65535, and what lookup_host() refuses.
std::optional<HostForms> parse_service_host(std::string_view text);

}  // namespace modlock
