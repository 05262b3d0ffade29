#include "protocol/rpc/rpc.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "protocol/base/json.h"
#include "protocol/messages/error_json.h"

namespace modlock {
namespace {

constexpr std::string_view kEnvelopeHint = "send {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"…\",\"params\":{…}}";

Message invalid(Code code, std::string message, std::optional<MessageId> id = {}, std::string hint = {}) {
  Message out;
  out.id = std::move(id);
  out.error = {.code = code, .message = std::move(message), .hint = std::move(hint)};
  return out;
}

// Returns the source text of a value, because only it distinguishes 1 from 1.0 and keeps every digit.
std::string_view token_of(const Json::Value& value, std::string_view line) {
  const auto start = static_cast<std::size_t>(value.getOffsetStart());
  const auto limit = static_cast<std::size_t>(value.getOffsetLimit());
  return line.substr(start, limit - start);
}

const Json::Value* member(const Json::Value& object, std::string_view name) {
  return object.find(name.data(), name.data() + name.size());
}

tl::unexpected<Error> undecodable(std::string_view what) {
  return fail(Code::invalid_params, fmt::format("decode: expected {}", what));
}

// Errors: INVALID_REQUEST, INVALID_PARAMS.
Result<void> read_params(const Json::Value& envelope, std::string_view line, Message& out) {
  const Json::Value* params = member(envelope, "params");
  if (params == nullptr || params->isNull()) {
    return {};
  }
  if (params->isArray()) {
    return fail(Code::invalid_params, "params must be an object: positional params are not supported",
                "pass the params by name");
  }
  if (!params->isObject()) {
    return fail(Code::invalid_request, "the member \"params\" of a message must be an object",
                std::string(kEnvelopeHint));
  }
  out.params = *params;
  const Json::Value* const meta = member(*params, "_meta");
  const Json::Value* const token = meta != nullptr && meta->isObject() ? member(*meta, "progressToken") : nullptr;
  if (token != nullptr && !token->isNull()) {
    const std::string_view text = token_of(*token, line);
    if (!parse_message_id(text)) {
      return undecodable("a string or an integer at params._meta.progressToken");
    }
    out.progress_token = text;
  }
  MODLOCK_TRY(out.time_allowed, time_allowed(*params));
  if (const Json::Value* id = member(*params, "id")) {
    out.params_id = parse_message_id(token_of(*id, line));
  }
  return {};
}

Message parse_envelope(const Json::Value& value, std::string_view line) {
  const auto malformed = [](std::string message, std::optional<MessageId> id = {}) {
    return invalid(Code::invalid_request, std::move(message), std::move(id), std::string(kEnvelopeHint));
  };
  if (!value.isObject()) {
    return malformed("a message must be an object");
  }
  Message out;
  const Json::Value* id = member(value, "id");
  if (id != nullptr) {
    out.id = parse_message_id(token_of(*id, line));
  }
  const Json::Value* method = member(value, "method");
  if (method == nullptr && (member(value, "result") != nullptr || member(value, "error") != nullptr)) {
    out.kind = Message::Kind::ignored;
    out.error = {.code = Code::invalid_request, .message = "received a response, but no request was sent"};
    return out;
  }
  if (id != nullptr && !out.id) {
    return malformed("the member \"id\" of a message must be a string or an integer");
  }
  const Json::Value* version = member(value, "jsonrpc");
  if (version == nullptr || !version->isString() || version->asString() != "2.0") {
    return malformed("the member \"jsonrpc\" of a message must be \"2.0\"", out.id);
  }
  if (method == nullptr || !method->isString()) {
    return malformed("the member \"method\" of a message must be a string", out.id);
  }
  out.method = method->asString();
  const Result<void> params = read_params(value, line, out);
  out.kind = out.id ? Message::Kind::request : Message::Kind::notification;
  if (!params) {
    const bool answered = out.id || params.error().code == Code::invalid_request;
    out.kind = answered ? Message::Kind::invalid : Message::Kind::ignored;
    out.error = params.error();
  }
  return out;
}

// JSON that is not usable as a message, answered under its id if it has a valid one.
Message rejected(const JsonScan& scan) {
  Message out;
  if (scan.id) {
    out.id = parse_message_id(*scan.id);
  }
  out.error = *scan.rejection;
  return out;
}

}  // namespace

std::optional<MessageId> parse_message_id(std::string_view token) {
  if (token.empty()) {
    return std::nullopt;
  }
  if (token.front() == '"') {
    const Result<Json::Value> value = parse_json(token);
    if (!value || !value->isString()) {
      return std::nullopt;
    }
    return MessageId{.token = std::string(token), .key = "s" + value->asString()};
  }
  const std::string_view digits = token.substr(token.front() == '-' ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  return MessageId{.token = std::string(token), .key = "i" + std::string(digits == "0" ? digits : token)};
}

Result<std::optional<std::chrono::milliseconds>> time_allowed(const Json::Value& params) {
  const Json::Value* const meta = params.isObject() ? member(params, "_meta") : nullptr;
  if (meta == nullptr || meta->isNull()) {
    return std::nullopt;
  }
  if (!meta->isObject()) {
    return undecodable("an object at params._meta");
  }
  const Json::Value* const allowed = member(*meta, "deadlineMs");
  if (allowed == nullptr || allowed->isNull()) {
    return std::nullopt;
  }
  // Longer than a year is as good as no deadline, and safe to add to a time.
  constexpr Json::UInt64 kYear = Json::UInt64{366} * 24 * 3600 * 1000;
  return allowed->isUInt64() ? Result<std::optional<std::chrono::milliseconds>>(
                                   std::chrono::milliseconds(std::min(allowed->asUInt64(), kYear)))
                             : undecodable("a non-negative integer at params._meta.deadlineMs");
}

Incoming parse_incoming(std::string_view line) {
  const auto one = [](Message message) {
    Incoming incoming;
    incoming.messages.push_back(std::move(message));
    return incoming;
  };
  const Result<Json::Value> value = parse_json(line);
  if (!value) {
    const Result<JsonScan> scan = scan_json(line);
    if (scan && scan->rejection) {
      return one(rejected(*scan));
    }
    Message unreadable;
    unreadable.error = value.error();
    return one(std::move(unreadable));
  }
  if (!value->isArray()) {
    return one(parse_envelope(*value, line));
  }
  if (value->empty()) {
    return one(invalid(Code::invalid_request, "a batch must contain at least one message"));
  }
  if (value->size() > kMaxBatchItems) {
    return one(invalid(Code::invalid_request,
                       fmt::format("a batch may contain at most {} messages, found {}", kMaxBatchItems, value->size()),
                       {}, "send several batches, or one message per line"));
  }
  Incoming incoming{.is_batch = true, .messages = {}};
  for (const Json::Value& item : *value) {
    incoming.messages.push_back(parse_envelope(item, line));
  }
  return incoming;
}

std::string encode_result(std::string_view id, std::string_view result_json) {
  return fmt::format("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}}", id, result_json);
}

std::string encode_error(std::string_view id, const Error& error, const Json::Value& more_data) {
  return fmt::format("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{}}}", id, write_json(to_json(error, more_data)));
}

std::string encode_notification(std::string_view method, std::string_view params_json) {
  return fmt::format("{{\"jsonrpc\":\"2.0\",\"method\":{},\"params\":{}}}",
                     write_json(Json::Value(method.data(), method.data() + method.size())), params_json);
}

Reply::Reply(std::string id, Send send) : id_(std::move(id)), send_(std::move(send)) {}

Reply::Reply(Reply&& other) noexcept
    : id_(std::move(other.id_)), send_(std::exchange(other.send_, nullptr)), max_bytes_(other.max_bytes_) {}

Reply::~Reply() {
  if (send_) {
    error({.code = Code::internal,
           .message = "the request was dropped without a response",
           .hint = "this is a bug in the program: please report it"});
  }
}

void Reply::result(const Json::Value& result) {
  if (!send_) {
    return;
  }
  std::string line = encode_result(id_, write_json(result));
  if (max_bytes_ != 0 && line.size() > max_bytes_) {
    error({.code = Code::limit_exceeded,
           .message = fmt::format("the response has {} bytes, but the host accepts {}", line.size(), max_bytes_),
           .hint = "raise limits.maxMessageBytes in initialize, or request less at once"});
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
