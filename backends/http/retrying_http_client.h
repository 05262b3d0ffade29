#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "backends/http/exchange.h"
#include "backends/http/http_client.h"

namespace modlock {

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
