#include <arpa/inet.h>

#include <array>

#include "backends/address/hostname.h"

namespace modlock {

bool is_odd_ip_address(std::string host) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (host.starts_with('[') && host.ends_with(']')) {
    in6_addr address{};
    host = host.substr(1, host.size() - 2);
    return ::inet_pton(AF_INET6, host.c_str(), &address) != 1 || IN6_IS_ADDR_V4MAPPED(&address) ||
           host != ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  }
  in_addr address{};
  return ::inet_aton(host.c_str(), &address) != 0 && host != ::inet_ntop(AF_INET, &address, text.data(), text.size());
}

}  // namespace modlock
