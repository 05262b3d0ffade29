#pragma once

#include <json/value.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/rpc/answer.h"

namespace modlock {

// The right to answer one request, once. A second answer is dropped; a reply that is destroyed without an answer gives
// INTERNAL, so that no host waits for ever.
class Reply {
 public:
  using Send = std::function<void(std::string line)>;

  // `id` is the token of the request, or "null".
  Reply(std::string id, Send send);
  ~Reply();
  Reply(Reply&& other) noexcept;
  Reply& operator=(Reply&&) = delete;

  // Limits the size of results: a larger one is answered with LIMIT_EXCEEDED. 0: no limit.
  void limit(std::size_t max_bytes) { max_bytes_ = max_bytes; }

  void result(const Answer& answer);
  void error(const Error& error, const Json::Value& more_data = {});

 private:
  void send(std::string line);

  std::string id_;
  Send send_;  // empty once used
  std::size_t max_bytes_ = 0;
};

// Collects the answers to the items of one batch and sends them as one line, in the order of the items, when the last
// one is there; nothing where no item asked for an answer. May be answered from several threads.
class BatchReply : public std::enable_shared_from_this<BatchReply> {
 public:
  explicit BatchReply(Reply::Send send) : send_(std::move(send)) {}

  // The place of the next item that gets an answer. Only before `close`.
  Reply::Send reserve();
  // All places are reserved.
  void close();

 private:
  void done(std::unique_lock<std::mutex> lock);

  Reply::Send send_;
  std::mutex mutex_;
  std::vector<std::string> answers_;
  std::size_t open_ = 1;  // answers that are missing, and `close`
};

}  // namespace modlock
