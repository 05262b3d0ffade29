#include "tests/backends/http/http_fixture.h"

#include <fmt/format.h>

#include "backends/http/retrying_http_client.h"

namespace modlock::test {

CleanHttpEnvironment::CleanHttpEnvironment() {
  for (const char* name :
       {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
        "REQUEST_METHOD", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"}) {
    unset_.emplace_back(name, std::nullopt);
  }
}

std::unique_ptr<HttpClient> make_client_without_waits(std::size_t connections_per_host) {
  return make_retrying_http_client(
      make_curl_transport("test/1", connections_per_host),
      {.wait = [](std::chrono::milliseconds, const Context&) {}, .jitter = [] { return 0.0; }});
}

HttpRequest get(std::string url) {
  HttpRequest request;
  request.url = SecretText(std::move(url));
  request.purpose = "read it";
  return request;
}

std::string outcome(const Result<HttpResponse>& result) {
  if (result) {
    return fmt::format("{} {}", result->status, result->body);
  }
  const Error& error = result.error();
  return fmt::format("{}: {}{}", to_string(error.code), error.message,
                     error.hint.empty() ? "" : " (" + error.hint.text() + ")");
}

FaultServer::Handler always(std::string body) {
  return [body = std::move(body)](const ReceivedRequest&) { return ServerAnswer{.body = body}; };
}

}  // namespace modlock::test
