#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "backends/base/context.h"
#include "backends/http/http_client.h"
#include "protocol/base/error.h"
#include "protocol/base/result.h"

namespace modlock {

struct Attempt {
  int number = 0;                                             // 0 is the first
  std::optional<Code> failure = {};                           // no response: the code of its error
  int status = 0;                                             // of the response, else 0
  std::optional<std::chrono::milliseconds> retry_after = {};  // as the server requested
};

// Returns how long to wait before the next attempt; nullopt: there is none. Pure; `jitter` is in [0, 1). Retried are
// UNREACHABLE except for TLS (the caller passes BAD_RESPONSE for that), TIMEOUT, 408, 429, 500, 502, 503, 504. The wait
// is 0.5 s, doubled per attempt up to 8 s; half of it is jitter. Retry-After is a lower bound. If that bound is over 60
// s, there is no retry: the caller returns retry_after instead.
std::optional<std::chrono::milliseconds> retry_delay(const Attempt& attempt, int retries, double jitter);

// Parses the value of a Retry-After header (RFC 9110 section 10.2.3): seconds, or an HTTP date relative to `now`.
// nullopt for any other text; never negative, at most a day.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view value,
                                                           std::chrono::system_clock::time_point now);

// One request and its response on the network, without redirects and retries. Lives as long as the call.
struct Exchange {
  HttpRequest::Method method = HttpRequest::Method::get;
  SecretText url = {};                                           // http or https, without user-info and fragment
  std::vector<std::pair<std::string, SecretText>> headers = {};  // all headers, secret or not
  std::string_view body = {};                                    // of a POST or PUT
  std::size_t body_limit = 0;
  BodySink* sink = nullptr;
  HttpTimeouts timeouts = {};
  bool is_large = false;
  bool is_of_git = false;
  bool decodes = true;
};

// The reason why there is no response or no usable one.
struct ExchangeFailure {
  Code code = Code::unreachable;
  std::string reason = {};  // follows "could not <purpose>: <URL>: "
  Hint hint = {};
  bool is_final = false;  // another attempt cannot help
  Reason kind = Reason::none;
};

// `Error`: the sink's error, which is returned unchanged.
using ExchangeResult = tl::expected<HttpResponse, std::variant<ExchangeFailure, Error>>;

// Performs the HTTP exchanges of an HttpClient. Thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;

  // Returns the response to exactly this request, including redirects and server errors. If the status is 2xx, a body
  // over body_limit is LIMIT_EXCEEDED. Of other bodies the first 64 KiB are kept.
  virtual ExchangeResult exchange(const Exchange& exchange, const Context& context) = 0;
};

inline constexpr std::size_t kErrorBodyLimit = std::size_t{64} << 10U;

// The delays between two attempts of an HttpClient.
struct RetryTiming {
  // Waits until the time is over or the context ends.
  std::function<void(std::chrono::milliseconds delay, const Context& context)> wait;
  std::function<double()> jitter;  // in [0, 1)
};
RetryTiming real_retry_timing();

// Implements HttpClient except for the transport: redirects (redirect.h), attempts (retry_delay()), which host receives
// which secret, offline mode, and the wording of errors. Logs each request at level debug, without query and user-info.
std::unique_ptr<HttpClient> make_retrying_http_client(std::unique_ptr<Transport> transport, RetryTiming timing);

}  // namespace modlock
