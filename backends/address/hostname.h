#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace modlock {

// A host name in its two IDNA forms, both in lower case.
struct HostForms {
  std::string ascii;    // for comparison and for the network: "xn--bcher-kva.example"
  std::string display;  // for a person and for the configuration: "bücher.example"
};

// Looks up a name without port as RFC 5891 specifies (UTS 46, non-transitional, STD3 rules). nullopt if it is invalid.
// IPv4 addresses are valid names here; IPv6 addresses are not.
std::optional<HostForms> lookup_host(std::string_view name);

// Splits "name:port" (or "[address]:port") into the name and ":port" with its colon.
std::pair<std::string, std::string> split_port(std::string_view host);

// Returns "name:port" with the name in the ASCII form of lookup_host(), or unchanged if that rejects the name.
std::string host_in_ascii(const std::string& host);

// Parses the host of a registry address, `name[:port]`, and returns both forms of its name, each with the port. ":443"
// and leading zeros of a port are dropped. nullopt if OpenTofu's svchost rejects the host: no name, an empty label, a
// label in punycode, a port above 65535, or a name that lookup_host() rejects.
std::optional<HostForms> parse_service_host(std::string_view text);

// Returns whether a host is an IP address in another form than the usual one: "127.1", "0x7f000001",
// "[::ffff:127.0.0.1]", "[0:0::1]". Resolvers accept all forms of inet_aton(3).
bool is_odd_ip_address(std::string host);

}  // namespace modlock
