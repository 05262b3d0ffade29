#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/base/log.h"

namespace modlock {

// The log of one session: what is up to its level goes on to another log (stderr) and, once the host asked for it, to
// the host as `log/message` notifications {level, message}. May be called from several threads.
class SessionLog final : public Log {
 public:
  using Send = std::function<void(std::string line)>;
  SessionLog(Log& next, Send send, LogLevel level = LogLevel::warning);

  void write(LogLevel level, std::string_view line) override;
  void set_level(LogLevel level) { level_ = level; }
  void tell_host(bool tell) { tell_host_ = tell; }

 private:
  Log& next_;
  const Send send_;
  std::atomic<LogLevel> level_;
  std::atomic<bool> tell_host_{false};
};

// "error", "warning", "info" or "debug".
std::optional<LogLevel> parse_log_level(std::string_view text);

}  // namespace modlock
