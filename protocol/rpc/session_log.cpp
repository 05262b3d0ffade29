#include "protocol/rpc/session_log.h"

#include <utility>

#include "protocol/base/json.h"
#include "protocol/messages/session.h"
#include "protocol/rpc/rpc.h"

namespace modlock {

SessionLog::SessionLog(Log& next, Send send, LogLevel level) : next_(next), send_(std::move(send)), level_(level) {}

void SessionLog::write(LogLevel level, std::string_view line) {
  if (level > level_) {
    return;
  }
  next_.write(level, line);
  if (tell_host_) {
    const messages::LogMessage message{.level = std::string(to_string(level)), .message = std::string(line)};
    send_(encode_notification("log/message", write_json(Encode::to_value(message))));
  }
}

std::optional<LogLevel> parse_log_level(std::string_view text) {
  for (const LogLevel level : {LogLevel::error, LogLevel::warning, LogLevel::info, LogLevel::debug}) {
    if (text == to_string(level)) {
      return level;
    }
  }
  return std::nullopt;
}

}  // namespace modlock
