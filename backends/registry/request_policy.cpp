#include "backends/registry/request_policy.h"

#include <algorithm>
#include <charconv>

namespace modlock::registry {
namespace {

// Longer than any run, and far from overflowing what waits.
constexpr std::chrono::seconds kLongest = std::chrono::hours(24);

// A number above zero as Go's strconv.Atoi reads it.
std::optional<int> positive_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
  }
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && number > 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

RequestPolicy request_policy(const ClientConfiguration& client, std::string_view retry_variable,
                             std::string_view timeout_variable) {
  RequestPolicy policy;
  if (const auto retries = positive_number(retry_variable)) {
    policy.retries = *retries;
  } else if (client.retry_count) {
    policy.retries = std::max(0, *client.retry_count);
  }
  std::optional<std::chrono::seconds> timeout = client.request_timeout;
  if (const auto seconds = positive_number(timeout_variable)) {
    timeout = std::chrono::seconds(*seconds);
  }
  if (timeout) {
    policy.timeout.reset();
    if (timeout->count() > 0) {
      policy.timeout = std::min(*timeout, kLongest);
    }
  }
  return policy;
}

}  // namespace modlock::registry
