#include "protocol/rpc/request_progress.h"

#include <fmt/format.h>

#include <utility>

#include "protocol/base/json.h"
#include "protocol/rpc/rpc.h"

namespace modlock {

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
