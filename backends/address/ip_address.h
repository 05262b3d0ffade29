#pragma once

#include <string>

namespace modlock {

// Returns whether a host is an IP address in another form than the usual one: "127.1", "0x7f000001",
// "[::ffff:127.0.0.1]", "[0:0::1]". Resolvers accept all forms of inet_aton(3).
bool is_odd_ip_address(std::string host);

}  // namespace modlock
