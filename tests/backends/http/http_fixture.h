#pragma once

#include <deque>
#include <memory>
#include <semaphore>
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

// Answers "ok", a request for "/held" when it is released.
struct HeldServer {
  std::counting_semaphore<> arrived{0};
  std::counting_semaphore<> released{0};
  FaultServer server{[this](const ReceivedRequest& request) {
    if (request.path() == "/held") {
      arrived.release();
      released.acquire();
    }
    return ServerAnswer{.body = "ok"};
  }};
};

// Takes nothing of the body before it is released.
struct HeldSink final : BodySink {
  Result<void> begin(std::optional<std::uint64_t>) override { return {}; }
  Result<void> write(std::string_view piece) override {
    if (bytes == 0) {
      reached.release();
      released.acquire();
    }
    bytes += piece.size();
    return {};
  }

  std::binary_semaphore reached{0};
  std::binary_semaphore released{0};
  std::size_t bytes = 0;
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
