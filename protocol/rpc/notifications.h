#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/base/log.h"
#include "protocol/messages/session.h"

namespace modlock {

// The log of one session. Passes lines up to its level to another log (stderr) and, if the host requested it, to the
// host as `log/message` notifications {level, message}. Thread-safe.
class SessionLog final : public Log {
 public:
  using Send = std::function<void(std::string line)>;
  SessionLog(Log& next, Send send, LogLevel level = LogLevel::warning);

  void write(LogLevel level, std::string_view line) override;
  void set_level(LogLevel level) { level_ = level; }
  void send_to_host(bool is_wanted) { sends_to_host_ = is_wanted; }

 private:
  Log& next_;
  const Send send_;
  std::atomic<LogLevel> level_;
  std::atomic<bool> sends_to_host_{false};
};

// Accepts "error", "warning", "info" and "debug".
std::optional<LogLevel> parse_log_level(std::string_view text);

// Turns the progress of one request into `$/progress` notifications {token, value{kind: begin|report|end, …}}: `begin`
// at construction, reports at least `kInterval` apart (others are dropped), `end` from `end` or the destructor, nothing
// after it. Thread-safe.
class RequestProgress final : public Progress {
 public:
  using Send = std::function<void(std::string line)>;
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  static constexpr std::chrono::milliseconds kInterval{100};

  // `token` is the source text of the host's token; `title` names the operation.
  RequestProgress(std::string token, std::string_view title, Send send, Clock clock = &std::chrono::steady_clock::now);
  ~RequestProgress() override;

  void report(std::string_view message, std::size_t done, std::size_t total) override;
  void end();

 private:
  void notify(const messages::ProgressValue& value) const;

  const std::string token_;
  const Send send_;
  const Clock clock_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point last_;
  bool ended_ = false;
};

}  // namespace modlock
