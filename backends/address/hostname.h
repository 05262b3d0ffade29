#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace modlock {

// A host name in the two forms IDNA gives it, both mapped to lower case.
struct HostForms {
  std::string ascii;    // for comparison and for the network: "xn--bcher-kva.example"
  std::string display;  // for a person and for the configuration: "bücher.example"
};

// A name without port, as RFC 5891 looks it up (UTS 46, non-transitional, STD3 rules). nullopt where it is not valid.
// IPv4 addresses are names to this; IPv6 addresses are not.
std::optional<HostForms> lookup_host(std::string_view name);

}  // namespace modlock
