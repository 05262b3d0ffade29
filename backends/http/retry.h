#pragma once

#include <chrono>
#include <optional>

#include "protocol/base/error.h"

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

}  // namespace modlock
