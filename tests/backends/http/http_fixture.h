#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "backends/http/curl_http_client.h"
#include "tests/support/environment.h"
#include "tests/support/fault_server.h"

namespace modlock::test {

// Unsets every variable that this machine may have set and that an HttpClient looks at.
class CleanHttpEnvironment {
 public:
  CleanHttpEnvironment();

 private:
  std::deque<ScopedEnvironment> unset_;
};

// The client on libcurl, without real waits between attempts. It reads the environment when it is made.
std::unique_ptr<HttpClient> make_client_without_waits(std::size_t connections_per_host = kConnectionsPerHost);

// A request to read something, with short timeouts.
HttpRequest get(std::string url);

// "200 <body>", or "CODE: <message> (<hint>)".
std::string outcome(const Result<HttpResponse>& result);

// A handler that answers every request with this body.
FaultServer::Handler always(std::string body);

}  // namespace modlock::test
