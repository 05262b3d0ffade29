#pragma once

#include <json/value.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace modlock {

// The id of a request: a string or an integer of any length.
struct MessageId {
  std::string token = {};  // as written, to be echoed
  std::string key = {};    // equal for equal ids, regardless of spelling
};

// `token` is the source text of a JSON value. Returns nullopt if it is neither a string nor an integer (written without
// fraction and exponent).
std::optional<MessageId> parse_message_id(std::string_view token);

inline constexpr std::size_t kMaxBatchItems = 100;

// One JSON-RPC 2.0 envelope from the host, checked.
struct Message {
  enum class Kind {
    request,       // has an id: gets exactly one response
    notification,  // has none: gets no response, even if it is invalid
    invalid,       // answered with `error`, under its `id` if that is valid, else under null
    ignored,       // not answered: a response, or an unusable notification; `error` has the reason
  };
  Kind kind = Kind::invalid;
  std::optional<MessageId> id = {};
  std::string method = {};
  Json::Value params = Json::Value(Json::objectValue);  // always an object
  Error error = {};

  // params._meta
  std::string progress_token = {};  // as written (a string or an integer), or empty
  std::optional<std::chrono::milliseconds> time_allowed = {};

  std::optional<MessageId> params_id = {};  // params.id, for $/cancelRequest
};

// One line: a message, or a batch of them.
struct Incoming {
  bool is_batch = false;
  std::vector<Message> messages = {};
};

// Never fails: invalid JSON, or an empty or oversized batch, becomes one invalid message. PARSE_ERROR and
// INVALID_REQUEST as in `parse_json`; INVALID_REQUEST if it is not an envelope; INVALID_PARAMS for positional params
// and an unusable `_meta`.
Incoming parse_incoming(std::string_view line);

// Responses and notifications, without the line ending. `id` is a token as received, or "null".
std::string encode_result(std::string_view id, std::string_view result_json);
std::string encode_error(std::string_view id, const Error& error, const Json::Value& more_data = {});
std::string encode_notification(std::string_view method, std::string_view params_json);

// Returns `_meta.deadlineMs` of params, for hosts in the same process; nullopt if absent. Errors: INVALID_PARAMS.
Result<std::optional<std::chrono::milliseconds>> time_allowed(const Json::Value& params);

// The right to answer one request, once. A second answer is dropped. A reply that is destroyed without an answer sends
// INTERNAL, so that no host waits forever.
class Reply {
 public:
  using Send = std::function<void(std::string line)>;

  // `id` is the token of the request, or "null".
  Reply(std::string id, Send send);
  ~Reply();
  Reply(Reply&& other) noexcept;
  Reply& operator=(Reply&&) = delete;

  // Limits the size of results: a larger one becomes LIMIT_EXCEEDED. 0: no limit.
  void limit(std::size_t max_bytes) { max_bytes_ = max_bytes; }

  void result(const Json::Value& result);
  void error(const Error& error, const Json::Value& more_data = {});

 private:
  void send(std::string line);

  std::string id_;
  Send send_;  // empty after use
  std::size_t max_bytes_ = 0;
};

// Collects the answers to the items of one batch and sends them as one line, in the order of the items, when the last
// one arrives; sends nothing if no item needs an answer. Thread-safe.
class BatchReply : public std::enable_shared_from_this<BatchReply> {
 public:
  explicit BatchReply(Reply::Send send) : send_(std::move(send)) {}

  // Reserves the place of the next item that gets an answer. Only before `close`.
  Reply::Send reserve();
  // Call it when all places are reserved.
  void close();

 private:
  void done(std::unique_lock<std::mutex> lock);

  Reply::Send send_;
  std::mutex mutex_;
  std::vector<std::string> answers_;
  std::size_t open_ = 1;  // missing answers, plus 1 until `close`
};

}  // namespace modlock
