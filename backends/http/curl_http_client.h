#pragma once

#include <memory>
#include <string>

#include "backends/http/http_client.h"
#include "backends/http/retrying_http_client.h"

namespace modlock {

inline constexpr std::size_t kConnectionsPerHost = 32;

// HttpClient on libcurl. `user_agent` is sent with every request that sets none. Proxies and trusted authorities are
// those of the environment at the time of this call (proxy.h, SSL_CERT_FILE, SSL_CERT_DIR). A host and port has at most
// `connections_per_host` connections (at least 1). Further requests wait in order, and this time does not count toward
// their timeouts. Requests share a connection if the server supports HTTP/2. Large ones (HttpRequest::is_large) use
// HTTP/1.1 and have the same number of separate connections. A sink must not send a request to the server that feeds
// it: if all connections are in use, it would wait for itself.
std::unique_ptr<HttpClient> make_curl_http_client(std::string user_agent,
                                                  std::size_t connections_per_host = kConnectionsPerHost);

// Only its transport.
std::unique_ptr<Transport> make_curl_transport(std::string user_agent,
                                               std::size_t connections_per_host = kConnectionsPerHost);

}  // namespace modlock
