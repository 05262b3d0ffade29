#include "protocol/request_progress.h"

#include <fmt/format.h>
#include <json/value.h>

#include <utility>

#include "protocol/json.h"
#include "protocol/rpc.h"

namespace modlock {

RequestProgress::RequestProgress(std::string token, std::string_view title, Send send, Clock clock)
    : token_(std::move(token)), send_(std::move(send)), clock_(std::move(clock)), last_(clock_()) {
  Json::Value value(Json::objectValue);
  value["kind"] = "begin";
  value["title"] = std::string(title);
  notify(write_json(value));
}

RequestProgress::~RequestProgress() {
  end();
}

void RequestProgress::report(std::string_view message, std::size_t done, std::size_t total) {
  Json::Value value(Json::objectValue);
  value["kind"] = "report";
  value["message"] = std::string(message);
  value["done"] = Json::Value::UInt64(done);
  if (total > 0) {
    value["total"] = Json::Value::UInt64(total);
  }
  const std::lock_guard lock(mutex_);
  const auto now = clock_();
  if (ended_ || now - last_ < kInterval) {
    return;
  }
  last_ = now;
  notify(write_json(value));
}

void RequestProgress::end() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(ended_, true)) {
    notify("{\"kind\":\"end\"}");
  }
}

void RequestProgress::notify(const std::string& value) const {
  send_(encode_notification("$/progress", fmt::format("{{\"token\":{},\"value\":{}}}", token_, value)));
}

}  // namespace modlock
