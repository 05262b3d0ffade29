#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "backends/base/context.h"
#include "backends/http/http_client.h"
#include "protocol/base/result.h"

namespace modlock {

// One request and its response on the wire: no redirect is followed, nothing is tried again. Lives as long as the call.
struct Exchange {
  HttpRequest::Method method = HttpRequest::Method::get;
  SecretText url = {};                                           // http or https, without user-info and fragment
  std::vector<std::pair<std::string, SecretText>> headers = {};  // all of them, secret or not
  std::string_view body = {};                                    // of a POST
  std::size_t body_limit = 0;
  BodySink* sink = nullptr;
  HttpTimeouts timeouts = {};
  bool is_large = false;
};

// Why there is no response, or none that may be used.
struct ExchangeFailure {
  Code code = Code::unreachable;
  std::string reason = {};  // behind "could not <purpose>: <URL>: "
  std::string hint = {};
  bool is_final = false;  // another attempt cannot help
};

// `Error`: what the sink returned, to be handed on as it is.
using ExchangeResult = tl::expected<HttpResponse, std::variant<ExchangeFailure, Error>>;

// Speaks HTTP for an HttpClient. Thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;

  // The response to this very request, redirects and errors of the server included. A body over body_limit is
  // LIMIT_EXCEEDED where the status is 2xx; of other answers the first 64 KiB are kept.
  virtual ExchangeResult exchange(const Exchange& exchange, const Context& context) = 0;
};

inline constexpr std::size_t kErrorBodyLimit = std::size_t{64} << 10U;

// How an HttpClient spends the time between two attempts.
struct RetryTiming {
  // Returns when the time is over or the context says stop.
  std::function<void(std::chrono::milliseconds delay, const Context& context)> wait;
  std::function<double()> jitter;  // in [0, 1)
};
RetryTiming real_retry_timing();

// All of HttpClient but the wire: redirects (redirect.h), attempts (retry.h), who is shown which secret, offline, and
// the words of errors.
std::unique_ptr<HttpClient> make_retrying_http_client(std::unique_ptr<Transport> transport, RetryTiming timing);

}  // namespace modlock
