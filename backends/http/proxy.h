#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace modlock::http {

// The proxies of an environment. As in Go, ALL_PROXY is ignored, the upper-case name of a variable takes precedence
// over the lower-case one, and an empty variable is treated as unset.
struct ProxySettings {
  std::string https;  // HTTPS_PROXY
  std::string http;   // HTTP_PROXY; ignored in a CGI program (REQUEST_METHOD is set), because a request header could
                      // have set it
  std::string none;   // NO_PROXY, as Go reads it: names (with everything below them; `.x` and `*.x`: only that),
                      // addresses, both also with a port, CIDR blocks, or `*`

  static ProxySettings from_environment();

  // Returns the proxy for a URL, which may contain user-info; empty: none. As in Go's net/http, requests to `localhost`
  // and loopback addresses use no proxy.
  std::string proxy_for(std::string_view url) const;
};

}  // namespace modlock::http
