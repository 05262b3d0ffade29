#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "backends/http/http_client.h"
#include "backends/http/retrying_http_client.h"

namespace modlock::test {

// One request as the wire would carry it: each redirect and each attempt is one of its own.
struct SentRequest {
  std::string method;  // "GET"
  std::string url;     // without user-info and fragment
  std::vector<std::pair<std::string, std::string>>
      headers;  // all, the secret ones and Authorization from user-info too
  std::string body;
  HttpTimeouts timeouts;
  std::size_t body_limit;

  // The value of the first header of that name, without regard to case; "" where there is none.
  std::string header(std::string_view name) const;
};

// An answer, short to write: FakeAnswer{.body = "{}"}.
struct FakeAnswer {
  int status = 200;
  std::vector<HttpHeader> headers = {};
  std::string body = {};
};

// An HttpClient that answers out of a table. Redirects, attempts, secrets, limits, sinks and errors are those of the
// real one; only the wire and the waits are not real. Thread-safe.
class FakeHttpClient final : public HttpClient {
 public:
  using Answer = std::variant<FakeAnswer, ExchangeFailure>;

  FakeHttpClient();

  // The k-th request of that method ("GET", "HEAD", "POST") and URL gets the k-th answer, every later one the last.
  // What no row names is an INTERNAL error that says so.
  void on(std::string_view method, std::string_view url, std::vector<Answer> answers);
  // The same for GET and one answer: a body of JSON, or of any other type.
  void on(std::string_view url, std::string body, std::string content_type = "application/json");
  // A redirect of GET.
  void redirect(std::string_view url, std::string location, int status = 302);

  Result<HttpResponse> send(const HttpRequest& request, const Context& context) override;

  std::vector<SentRequest> sent() const;
  // "GET https://host/path" of each, in order.
  std::vector<std::string> sent_lines() const;
  std::vector<std::chrono::milliseconds> waits() const;

 private:
  struct Wire;
  struct State {
    struct Row {
      std::vector<Answer> answers;
      std::size_t given = 0;
    };
    std::mutex mutex;
    std::map<std::string, Row, std::less<>> rows;  // by "GET https://…"
    std::vector<SentRequest> sent;
    std::vector<std::chrono::milliseconds> waits;
  };

  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::unique_ptr<HttpClient> client_;
};

}  // namespace modlock::test
