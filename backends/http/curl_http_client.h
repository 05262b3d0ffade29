#pragma once

#include <memory>
#include <string>

#include "backends/http/exchange.h"
#include "backends/http/http_client.h"

namespace modlock {

// HttpClient on libcurl. `user_agent` is sent with every request that names none. Proxies and trusted authorities are
// those that the environment names at this moment (proxy.h, SSL_CERT_FILE, SSL_CERT_DIR).
std::unique_ptr<HttpClient> make_curl_http_client(std::string user_agent);

// Its wire alone.
std::unique_ptr<Transport> make_curl_transport(std::string user_agent);

}  // namespace modlock
