#include "protocol/rpc/notifications.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "protocol/base/json.h"
#include "protocol/rpc/rpc.h"

namespace modlock {

SessionLog::SessionLog(Log& next, Send send, LogLevel level) : next_(next), send_(std::move(send)), level_(level) {}

void SessionLog::write(LogLevel level, std::string_view line) {
  if (level > level_) {
    return;
  }
  next_.write(level, line);
  if (sends_to_host_) {
    const messages::LogMessage message{.level = std::string(to_string(level)), .message = std::string(line)};
    send_(encode_notification("log/message", write_json(Encode::to_value(message))));
  }
}

std::optional<LogLevel> parse_log_level(std::string_view text) {
  const auto* const found = std::ranges::find(kLogLevels, text);
  return found == kLogLevels.end() ? std::nullopt : std::optional(static_cast<LogLevel>(found - kLogLevels.begin()));
}

RequestProgress::RequestProgress(std::string token, std::string_view title, Send send, Clock clock)
    : token_(std::move(token)), send_(std::move(send)), clock_(std::move(clock)), last_(clock_()) {
  notify({.kind = "begin", .title = std::string(title)});
}

RequestProgress::~RequestProgress() {
  end();
}

void RequestProgress::report(std::string_view message, std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  const auto now = clock_();
  if (ended_ || now - last_ < kInterval) {
    return;
  }
  last_ = now;
  notify({.kind = "report", .message = std::string(message), .done = done, .total = total});
}

void RequestProgress::end() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(ended_, true)) {
    notify({.kind = "end"});
  }
}

void RequestProgress::notify(const messages::ProgressValue& value) const {
  send_(encode_notification("$/progress",
                            fmt::format("{{\"token\":{},\"value\":{}}}", token_, write_json(Encode::to_value(value)))));
}

}  // namespace modlock
