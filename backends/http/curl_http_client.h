#pragma once

#include <memory>
#include <string>

#include "backends/http/http_client.h"
#include "backends/http/retrying_http_client.h"

namespace modlock {

inline constexpr std::size_t kConnectionsPerHost = 32;

// HttpClient on libcurl. `user_agent` is sent with every request that names none. Proxies and trusted authorities are
// those that the environment names at this moment (proxy.h, SSL_CERT_FILE, SSL_CERT_DIR). A host and port has at most
// `connections_per_host` connections (1 at least); further requests wait in order, and no timeout of theirs counts
// that. Requests share a connection if the server speaks HTTP/2. Large ones (HttpRequest::is_large) use HTTP/1.1 and
// have as many connections of their own. A sink must not send a request to the server that feeds it: if all connections
// are in use, it waits for itself.
std::unique_ptr<HttpClient> make_curl_http_client(std::string user_agent,
                                                  std::size_t connections_per_host = kConnectionsPerHost);

// Its wire alone.
std::unique_ptr<Transport> make_curl_transport(std::string user_agent,
                                               std::size_t connections_per_host = kConnectionsPerHost);

}  // namespace modlock
