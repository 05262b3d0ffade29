#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "protocol/base/log.h"
#include "protocol/messages/session.h"

namespace modlock {

// Turns the progress of one request into `$/progress` notifications {token, value{kind: begin|report|end, …}}: `begin`
// at construction, reports no closer together than `kInterval` (those between are dropped), `end` from `end` or the
// destructor, nothing after it. May be called from several threads.
class RequestProgress final : public Progress {
 public:
  using Send = std::function<void(std::string line)>;
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  static constexpr std::chrono::milliseconds kInterval{100};

  // `token` is the source text of the host's token; `title` says what began.
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
