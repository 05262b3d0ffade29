#pragma once

#include <memory>
#include <string>

#include "backends/http/exchange.h"
#include "backends/http/http_client.h"

namespace modlock {

inline constexpr std::size_t kConnectionsPerHost = 32;

// HttpClient on libcurl. `user_agent` is sent with every request that names none. Proxies and trusted authorities are
// those that the environment names at this moment (proxy.h, SSL_CERT_FILE, SSL_CERT_DIR). Of one host and port, as many
// connections as `connections_per_host` are in use at the same time (1 at least); further requests wait, which no
// timeout of theirs counts. Where several are in use, but not all, one more may be open without being used
// (spare_connections.h). A sink must not ask the server that feeds it: with all connections in use, it would wait
// for itself.
std::unique_ptr<HttpClient> make_curl_http_client(std::string user_agent,
                                                  std::size_t connections_per_host = kConnectionsPerHost);

// Its wire alone.
std::unique_ptr<Transport> make_curl_transport(std::string user_agent,
                                               std::size_t connections_per_host = kConnectionsPerHost);

}  // namespace modlock
