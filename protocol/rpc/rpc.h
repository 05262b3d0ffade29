#pragma once

#include <json/value.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/rpc/message_id.h"

namespace modlock {

inline constexpr std::size_t kMaxBatchItems = 100;

// What a host sent, one JSON-RPC 2.0 envelope, judged.
struct Message {
  enum class Kind {
    request,       // has an id: gets exactly one response
    notification,  // has none: gets no response, whatever is wrong with it
    invalid,       // answered with `error`, under `id` where it has a valid one, else under null
    ignored,       // not answered: a response, or a notification that cannot be used; `error` says why
  };
  Kind kind = Kind::invalid;
  std::optional<MessageId> id = {};
  std::string method = {};
  Json::Value params = Json::Value(Json::objectValue);  // always an object
  Error error = {};

  // params._meta
  std::string progress_token = {};  // as it was written (a string or an integer), or empty
  std::optional<std::chrono::milliseconds> time_allowed = {};

  std::optional<MessageId> params_id = {};  // params.id, for $/cancelRequest
};

// One line: a message, or a batch of them.
struct Incoming {
  bool is_batch = false;
  std::vector<Message> messages = {};
};

// Never fails: a line that is no JSON, an empty or an oversized batch is one invalid message. PARSE_ERROR and
// INVALID_REQUEST as `parse_json` has them; INVALID_REQUEST for what is no envelope; INVALID_PARAMS for positional
// params and a `_meta` that cannot be used.
Incoming parse_incoming(std::string_view line);

// Responses and notifications, without the line end. `id` is a token as it was received, or "null".
std::string encode_result(std::string_view id, std::string_view result_json);
std::string encode_error(std::string_view id, const Error& error, const Json::Value& more_data = {});
std::string encode_notification(std::string_view method, std::string_view params_json);

// `_meta.deadlineMs` of params, for hosts in the same process; nullopt where there is none. Errors: INVALID_PARAMS.
Result<std::optional<std::chrono::milliseconds>> time_allowed(const Json::Value& params);

}  // namespace modlock
