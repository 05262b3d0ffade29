#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backends/http/http_client.h"
#include "backends/http/retrying_http_client.h"

namespace modlock::http {

// The proxies of an environment. As in Go, ALL_PROXY is ignored, the upper-case name of a variable takes precedence
// over the lower-case one, and an empty variable is treated as unset.
struct ProxySettings {
  std::string https;  // HTTPS_PROXY
  std::string http;   // HTTP_PROXY; ignored in a CGI program (REQUEST_METHOD is set), because a request header could
                      // have set it
  std::string none;   // NO_PROXY, as Go reads it: names (with everything below them; `.x` and `*.x`: only that),
                      // addresses, both also with a port, CIDR blocks, or `*`

  bool is_of_git = false;

  static ProxySettings from_environment();
  // Returns those of git and libcurl: the lower-case name takes precedence, also if it is empty, HTTP_PROXY is ignored,
  // and loopback addresses are no exception. git gives ALL_PROXY another meaning, which is not read here.
  static ProxySettings of_git();

  // Returns the proxy for a URL, which may contain user-info; empty: none. As in Go's net/http, requests to `localhost`
  // and loopback addresses use no proxy.
  std::string proxy_for(std::string_view url) const;
};

}  // namespace modlock::http

namespace modlock {

inline constexpr std::size_t kConnectionsPerHost = 32;

// HttpClient on libcurl. `user_agent` is sent with every request that sets none. Proxies and trusted authorities are
// those of the environment at the time of this call (ProxySettings, SSL_CERT_FILE, SSL_CERT_DIR). A host and port has
// at most `connections_per_host` connections (at least 1). Further requests wait in order, and this time does not count
// toward their timeouts. Requests share a connection if the server supports HTTP/2. Large ones (HttpRequest::is_large)
// use HTTP/1.1 and have the same number of separate connections. A sink must not send a request to the server that
// feeds it: if all connections are in use, it would wait for itself.
std::unique_ptr<HttpClient> make_curl_http_client(std::string user_agent,
                                                  std::size_t connections_per_host = kConnectionsPerHost);

// Only its transport.
std::unique_ptr<Transport> make_curl_transport(std::string user_agent,
                                               std::size_t connections_per_host = kConnectionsPerHost);

}  // namespace modlock
