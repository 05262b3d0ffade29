#pragma once

#include <cstddef>
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

// Speaks HTTP for an HttpClient (exchanging_client.h). Thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;

  // The response to this very request, redirects and errors of the server included. A body over body_limit is
  // LIMIT_EXCEEDED where the status is 2xx; of other answers the first 64 KiB are kept.
  virtual ExchangeResult exchange(const Exchange& exchange, const Context& context) = 0;
};

inline constexpr std::size_t kErrorBodyLimit = std::size_t{64} << 10U;

}  // namespace modlock
