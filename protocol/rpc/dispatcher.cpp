#include "protocol/rpc/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "protocol/base/json.h"
#include "protocol/base/object_reader.h"
#include "protocol/rpc/rpc.h"

namespace modlock {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRetryAfter{1000};

std::optional<LogLevel> read_log_level(ObjectReader& in, std::string_view name) {
  const auto text = in.one_of(name, kLogLevels);
  return text ? parse_log_level(*text) : std::nullopt;
}

Error duplicate_id_error(const MessageId& id) {
  return {.code = Code::duplicate_id,
          .message = fmt::format("the id {} belongs to a request in flight", id.token),
          .hint = "use a unique id for every request"};
}

Error cancelled_error() {
  return {.code = Code::request_cancelled, .message = "the request was cancelled"};
}

}  // namespace

bool is_lifecycle_method(std::string_view method) {
  return method == "initialize" || method == "initialized" || method == "shutdown" || method == "exit";
}

Result<void> Lifecycle::admit(std::string_view method, bool in_batch) const {
  if (in_batch && is_lifecycle_method(method)) {
    return fail(Code::invalid_request, fmt::format("{} must not be part of a batch", method),
                "send it as a separate line");
  }
  if (state_ == State::draining) {
    return fail(Code::shutting_down, fmt::format("{} was sent after shutdown", method),
                "start a new process for more requests");
  }
  if (method == "initialized" || method == "exit" || method == "$/cancelRequest") {
    return fail(Code::invalid_request, fmt::format("{} is a notification", method), "send it without an id");
  }
  if (method == "initialize") {
    if (state_ == State::ready) {
      return fail(Code::invalid_request, "initialize was sent a second time", "start a new process for a new session");
    }
    return {};
  }
  if (state_ == State::fresh && method != "rpc.discover" && method != "ping") {
    return fail(Code::not_initialized, fmt::format("{} was sent before initialize", method), "send initialize first");
  }
  return {};
}

// One request on its way through the pool.
struct Dispatcher::Call {
  Message message;
  std::stop_source stop;
  std::optional<SteadyClock::time_point> deadline;
  std::size_t max_result_bytes = 0;
  Reply reply;
};

Dispatcher::Dispatcher(const MethodTable& methods, OutgoingChannel channel, WorkerPool::Limits limits, Log& log,
                       std::function<void()> on_idle)
    : methods_(methods),
      outlet_(std::move(channel)),
      on_idle_(std::move(on_idle)),
      log_(log, outlet_.offer),
      pool_(limits) {}

std::vector<std::string> Dispatcher::own_methods() {
  return {"$/cancelRequest", "exit", "initialized", "log/setLevel", "ping", "shutdown"};
}

void Dispatcher::handle_line(std::string_view line) {
  Incoming incoming = parse_incoming(line);
  if (!incoming.is_batch) {
    handle(std::move(incoming.messages.front()), nullptr, line.size());
    return;
  }
  const auto batch = std::make_shared<BatchReply>(outlet_.write);
  const std::size_t share = line.size() / incoming.messages.size();
  std::set<std::string> ids;  // all ids in flight until the batch is answered
  for (Message& message : incoming.messages) {
    if (message.kind == Message::Kind::request && !ids.insert(message.id->key).second) {
      message.kind = Message::Kind::invalid;
      message.error = duplicate_id_error(*message.id);
    }
    handle(std::move(message), batch, share);
  }
  batch->close();
}

void Dispatcher::handle_too_large(std::size_t max_bytes) {
  Reply("null", outlet_.write)
      .error({.code = Code::message_too_large,
              .message = fmt::format("a line was longer than {} bytes and was discarded", max_bytes),
              .hint = "raise --max-message-bytes (up to 64 MiB), or send less at once"});
}

void Dispatcher::handle(Message message, const std::shared_ptr<BatchReply>& batch, std::size_t bytes) {
  const auto place = [&] { return batch ? batch->reserve() : outlet_.write; };
  switch (message.kind) {
    case Message::Kind::invalid:
      Reply(message.id ? message.id->token : "null", place()).error(message.error);
      break;
    case Message::Kind::ignored:
      log_.write(LogLevel::warning, "ignored a message: " + message.error.message);
      break;
    case Message::Kind::notification:
      handle_notification(message, batch != nullptr);
      break;
    case Message::Kind::request:
      handle_request(std::move(message), place(), batch != nullptr, bytes);
      break;
  }
}

void Dispatcher::handle_notification(const Message& message, bool in_batch) {
  if (in_batch && is_lifecycle_method(message.method)) {
    log_.write(LogLevel::warning, fmt::format("ignored {} inside a batch", message.method));
  } else if (message.method == "exit") {
    exit_requested_ = true;
  } else if (message.method == "$/cancelRequest") {
    if (message.params_id) {
      cancel(message.params_id->key);
    }
  } else if (message.method == "log/setLevel") {
    if (const auto set = set_log_level(message.params); !set) {
      log_.write(LogLevel::warning, "ignored log/setLevel: " + set.error().message);
    }
  } else if (message.method != "initialized" && message.method.rfind("$/", 0) != 0) {
    // No one would receive the result of a method that is called without an id.
    log_.write(LogLevel::warning, fmt::format("ignored the notification \"{}\"", message.method));
  }
}

void Dispatcher::handle_request(Message message, Reply::Send send, bool in_batch, std::size_t bytes) {
  const std::stop_source stop;
  if (const auto entered = enter(message, stop); !entered) {
    Reply(message.id->token, std::move(send)).error(entered.error());
    return;
  }
  // Frees the id before the host can see the response.
  Reply reply(message.id->token,
              [this, send = std::move(send), key = message.id->key, token = message.progress_token](std::string line) {
                leave(key, token);
                send(std::move(line));
                sent();
              });
  reply.limit(max_response_bytes_);
  if (const auto admitted = lifecycle_.admit(message.method, in_batch); !admitted) {
    reply.error(admitted.error());
    return;
  }
  if (handle_here(message, reply)) {
    return;
  }
  std::string key = message.id->key;
  std::optional<SteadyClock::time_point> deadline;
  if (message.time_allowed) {
    deadline = SteadyClock::now() + *message.time_allowed;
  }
  const std::size_t envelope = encode_result(message.id->token, "").size();
  const std::size_t max_result_bytes = max_response_bytes_ - std::min(max_response_bytes_, envelope);
  const auto call =
      std::make_shared<Call>(Call{std::move(message), stop, deadline, max_result_bytes, std::move(reply)});
  if (!pool_.submit({.key = std::move(key), .bytes = bytes, .run = [this, call] { run(*call); }})) {
    call->reply.error({.code = Code::server_busy,
                       .message = "too many requests are waiting",
                       .hint = "send it again after other requests were answered",
                       .retry_after = kRetryAfter});
  }
}

bool Dispatcher::handle_here(const Message& message, Reply& reply) {
  if (message.method == "initialize") {
    initialize(message, reply);
  } else if (message.method == "ping") {
    reply.result(Json::Value(Json::objectValue));
  } else if (message.method == "shutdown") {
    lifecycle_.shut_down();
    reply.result(Json::Value());
  } else if (message.method == "log/setLevel") {
    const auto set = set_log_level(message.params);
    set ? reply.result(Json::Value(Json::objectValue)) : reply.error(set.error());
  } else if (!methods_.has(message.method)) {
    RequestContext unused;
    reply.error(methods_.call(message.method, message.params, unused).error());
  } else {
    return false;
  }
  return true;
}

void Dispatcher::initialize(const Message& message, Reply& reply) {
  ObjectReader in(message.params);
  const auto process = in.integer("processId");
  std::optional<bool> wants_log;
  if (auto capabilities = in.object("capabilities")) {
    wants_log = capabilities->boolean("logMessage");
  }
  std::optional<std::uint64_t> max_bytes;
  if (auto limits = in.object("limits")) {
    max_bytes = limits->unsigned_integer("maxMessageBytes");
  }
  std::optional<LogLevel> level;
  if (auto options = in.object("options")) {
    level = read_log_level(*options, "logLevel");
  }
  if (const auto ok = in.finish(); !ok) {
    reply.error(ok.error());
    return;
  }
  RequestContext context{.log = &log_};
  const Result<Json::Value> result = methods_.call(message.method, message.params, context);
  if (!result) {
    reply.error(result.error(), context.error_data);
    return;
  }
  lifecycle_.initialized();
  host_process_ = process;
  max_response_bytes_ = static_cast<std::size_t>(max_bytes.value_or(0));
  if (level) {
    log_.set_level(*level);
  }
  reply.result(*result);
  log_.send_to_host(wants_log.value_or(false));
}

Result<void> Dispatcher::set_log_level(const Json::Value& params) {
  ObjectReader in(params);
  in.required_string("level");
  const auto level = read_log_level(in, "level");
  MODLOCK_TRY(in.finish());
  log_.set_level(*level);
  return {};
}

Result<void> Dispatcher::enter(const Message& message, const std::stop_source& stop) {
  const std::lock_guard lock(mutex_);
  if (in_flight_.count(message.id->key) != 0) {
    return fail(duplicate_id_error(*message.id));
  }
  if (!message.progress_token.empty() && !progress_tokens_.insert(message.progress_token).second) {
    return fail(Code::invalid_params,
                fmt::format("the progress token {} belongs to a request in flight", message.progress_token),
                "use a unique token for every request");
  }
  in_flight_.emplace(message.id->key, stop);
  ++unanswered_;
  return {};
}

void Dispatcher::leave(const std::string& key, const std::string& progress_token) {
  const std::lock_guard lock(mutex_);
  in_flight_.erase(key);
  progress_tokens_.erase(progress_token);
}

void Dispatcher::sent() {
  {
    const std::lock_guard lock(mutex_);
    if (--unanswered_ > 0) {
      return;
    }
  }
  on_idle_();
}

bool Dispatcher::is_idle() const {
  const std::lock_guard lock(mutex_);
  return unanswered_ == 0;
}

void Dispatcher::run(Call& call) {
  if (call.stop.stop_requested()) {
    call.reply.error(cancelled_error());
    return;
  }
  if (call.deadline && SteadyClock::now() >= *call.deadline) {
    call.reply.error({.code = Code::deadline_exceeded,
                      .message = "the deadline of the request passed while it waited in the queue",
                      .hint = "allow more time with a larger deadlineMs"});
    return;
  }
  std::optional<RequestProgress> progress;
  if (!call.message.progress_token.empty()) {
    progress.emplace(call.message.progress_token, call.message.method, outlet_.offer);
  }
  RequestContext context{.stop = call.stop.get_token(),
                         .deadline = call.deadline,
                         .log = &log_,
                         .max_result_bytes = call.max_result_bytes};
  if (progress) {
    context.progress = &*progress;
  }
  const Result<Json::Value> result = methods_.call(call.message.method, call.message.params, context);
  progress.reset();
  if (result) {
    call.reply.result(*result);
  } else if (call.stop.stop_requested()) {
    // Any error here is a result of the cancellation.
    call.reply.error(cancelled_error());
  } else {
    call.reply.error(result.error(), context.error_data);
  }
}

void Dispatcher::cancel(const std::string& key) {
  std::stop_source stop(std::nostopstate);
  {
    const std::lock_guard lock(mutex_);
    const auto found = in_flight_.find(key);
    if (found == in_flight_.end()) {
      return;
    }
    stop = found->second;
  }
  stop.request_stop();
  if (const std::optional<Job> waiting = pool_.take(key)) {
    waiting->run();
  }
}

void Dispatcher::cancel_all() {
  std::map<std::string, std::stop_source> all;
  {
    const std::lock_guard lock(mutex_);
    all = in_flight_;
  }
  // Waiting requests first: a free worker could start one before it is cancelled.
  std::vector<Job> waiting;
  for (const auto& [key, stop] : all) {
    if (std::optional<Job> job = pool_.take(key)) {
      waiting.push_back(std::move(*job));
    }
  }
  for (auto& [key, stop] : all) {
    stop.request_stop();
  }
  for (const Job& job : waiting) {
    job.run();
  }
}

SessionLog::SessionLog(Log& next, Send send, LogLevel level) : next_(next), send_(std::move(send)), level_(level) {}

void SessionLog::write(LogLevel level, std::string_view line) {
  if (level > level_) {
    return;
  }
  next_.write(level, line);
  if (sends_to_host_) {
    const messages::LogMessage message{.level = std::string(to_string(level)), .message = std::string(line)};
    send_(encode_notification("log/message", write_json(Encode::to_value(message))));
  }
}

std::optional<LogLevel> parse_log_level(std::string_view text) {
  const auto* const found = std::ranges::find(kLogLevels, text);
  return found == kLogLevels.end() ? std::nullopt : std::optional(static_cast<LogLevel>(found - kLogLevels.begin()));
}

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
