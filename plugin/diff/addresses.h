#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace modlock {

// Returns the hosts, public IP addresses and cloud accounts that a text names: "evil.example" of a URL or of a text
// that is only a host name, "203.0.113.9", "account 123456789012". Private addresses, and hosts that belong to the
// APIs of clouds, are left out.
std::vector<std::string> addresses_in(std::string_view text);

}  // namespace modlock
