#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace modlock::http {

// The proxies that an environment names. As in Go, the upper-case name of a variable wins over the lower-case one; an
// empty one counts as unset.
struct ProxySettings {
  std::string https;  // HTTPS_PROXY, else ALL_PROXY
  std::string http;   // HTTP_PROXY, else ALL_PROXY. HTTP_PROXY itself is passed over in a CGI program (REQUEST_METHOD
                      // is set), where a request's header could have set it
  std::string none;   // NO_PROXY: names (with everything below them), addresses, CIDR blocks, or `*`

  static ProxySettings from_environment();

  // The proxy for a URL, which may hold user-info; empty: none. As Go's net/http, nothing asks a proxy for `localhost`
  // and loopback addresses.
  std::string proxy_for(std::string_view url) const;
};

}  // namespace modlock::http
