#include "protocol/rpc/reply.h"

#include <fmt/format.h>

#include <utility>

#include "protocol/rpc/rpc.h"

namespace modlock {

Reply::Reply(std::string id, Send send) : id_(std::move(id)), send_(std::move(send)) {}

Reply::Reply(Reply&& other) noexcept
    : id_(std::move(other.id_)), send_(std::exchange(other.send_, nullptr)), max_bytes_(other.max_bytes_) {}

Reply::~Reply() {
  if (send_) {
    error({.code = Code::internal,
           .message = "the request was dropped without an answer",
           .hint = "this is a defect of the program: please report it"});
  }
}

void Reply::result(const Answer& answer) {
  if (!send_) {
    return;
  }
  std::string line = encode_result(id_, answer.text());
  if (max_bytes_ != 0 && line.size() > max_bytes_) {
    error({.code = Code::limit_exceeded,
           .message = fmt::format("the response has {} bytes, the host takes {}", line.size(), max_bytes_),
           .hint = "raise limits.maxMessageBytes in initialize, or ask for less at once"});
    return;
  }
  send(std::move(line));
}

void Reply::error(const Error& error, const Json::Value& more_data) {
  if (send_) {
    send(encode_error(id_, error, more_data));
  }
}

void Reply::send(std::string line) {
  std::exchange(send_, nullptr)(std::move(line));
}

Reply::Send BatchReply::reserve() {
  const std::lock_guard lock(mutex_);
  const std::size_t place = answers_.size();
  answers_.emplace_back();
  ++open_;
  return [self = shared_from_this(), place](std::string line) {
    std::unique_lock answering(self->mutex_);
    self->answers_[place] = std::move(line);
    self->done(std::move(answering));
  };
}

void BatchReply::close() {
  done(std::unique_lock(mutex_));
}

void BatchReply::done(std::unique_lock<std::mutex> lock) {
  if (--open_ > 0 || answers_.empty()) {
    return;
  }
  const std::string line = fmt::format("[{}]", fmt::join(answers_, ","));
  lock.unlock();
  send_(line);
}

}  // namespace modlock
