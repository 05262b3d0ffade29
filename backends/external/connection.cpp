#include "backends/external/connection.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "protocol/base/json.h"
#include "protocol/base/result.h"

namespace modlock::external {
namespace {

constexpr std::uint64_t kDescribe = 0;  // the id of that request
constexpr int kProcessesOfACall = 2;

std::string quoted(const std::vector<std::string>& words) {
  return words.empty() ? "nothing" : fmt::format("\"{}\"", fmt::join(words, "\", \""));
}

}  // namespace

Result<std::shared_ptr<Connection>> Connection::open(const ExternalCommand& command, const ChildLimits& limits) {
  const std::shared_ptr<Connection> connection(new Connection(command));
  MODLOCK_TRY(connection->start(limits));
  return connection;
}

Result<void> Connection::start(const ChildLimits& limits) {
  // Early output of the child waits until `child_` is set.
  const std::lock_guard lock(mutex_);
  MODLOCK_TRY(child_, Child::start(command_.command, limits, *this));
  send(kDescribe, "backend/describe", Json::Value(Json::objectValue));
  return {};
}

bool Connection::is_open() const {
  const std::lock_guard lock(mutex_);
  return !end_;
}

tl::expected<Json::Value, CallFailure> Connection::call(const Call& call, const Context& context) {
  const auto until = context.deadline ? std::min(*context.deadline, call.end) : call.end;
  std::unique_lock lock(mutex_);
  for (const std::string& secret : call.secrets) {
    secrets_.add(secret);
  }
  Open open{.log = context.log};
  const auto place = open_.insert(open_.end(), &open);
  bool in_time = changed_.wait_until(lock, context.stop, std::min(until, call.description_end),
                                     [this] { return is_described_ || end_; });
  if (in_time && !end_) {
    const std::uint64_t id = ++last_id_;
    awaited_.emplace(id, &open);
    context.count_request();
    send(id, call.method, call.params);
    in_time = changed_.wait_until(lock, context.stop, until, [&] { return open.answer || end_; });
    awaited_.erase(id);
  }
  open_.erase(place);
  if (open.answer) {
    if (*open.answer) {
      return std::move(**open.answer);
    }
    Error error = std::move(open.answer->error());
    error.message = fmt::format("{} could not {}: {}", name(), call.doing, quotable(error.message, secrets_));
    error.hint = quotable(error.hint.text(), secrets_);
    return tl::unexpected(CallFailure{CallFailure::Retry::no, std::move(error)});
  }
  CallFailure failure = failure_of(call, in_time, context);
  if (!end_) {
    end_calls({CallFailure::Retry::certainly, {}});
  }
  lock.unlock();
  // No process may still write to files that the caller now removes.
  child_->end();
  return tl::unexpected(std::move(failure));
}

CallFailure Connection::failure_of(const Call& call, bool in_time, const Context& context) const {
  if (in_time) {
    CallFailure failure{end_->again, end_->error};
    failure.error.message = fmt::format("{} could not {}: {}", name(), call.doing, failure.error.message);
    return failure;
  }
  if (auto ended = context.check(); !ended) {
    return {CallFailure::Retry::no,
            with_note(std::move(ended.error()), fmt::format("while {} was to {}", name(), call.doing))};
  }
  return {CallFailure::Retry::no,
          {.code = Code::timeout,
           .message = fmt::format("{} could not {}: it had no answer in time", name(), call.doing),
           .hint = "try again; the backend may wait for a server that is slow or does not answer"}};
}

std::string Connection::name() const {
  return fmt::format("the backend \"{}\" (\"{}\")", command_.scheme, command_.command[0]);
}

void Connection::send(std::uint64_t id, const std::string& method, const Json::Value& params) {
  Json::Value request(Json::objectValue);
  request["jsonrpc"] = "2.0";
  request["id"] = Json::UInt64{id};
  request["method"] = method;
  request["params"] = params;
  child_->write(write_json(request));
}

void Connection::on_line(const Frame& frame) {
  if (frame.is_cut_off) {
    return;  // The end that follows gives the reason.
  }
  auto answer = frame.kind == Frame::Kind::line
                    ? parse_answer(frame.text)
                    : fail(Code::bad_response, fmt::format("it wrote a line of more than {} bytes", kLongestAnswer),
                           "a backend offers less, or is asked for less with a tag prefix");
  const std::lock_guard lock(mutex_);
  if (end_) {
    return;
  }
  if (!answer) {
    break_off(std::move(answer.error()));
  } else if (*answer) {
    take(std::move(**answer));
  }
}

void Connection::take(Answer answer) {
  if (answer.id == kDescribe && !is_described_) {
    take_description(answer.result);
    return;
  }
  const auto found = awaited_.find(answer.id);
  if (found == awaited_.end() || found->second->answer) {
    break_off({.code = Code::bad_response,
               .message = fmt::format("it answered the id {}, which no open request has", answer.id),
               .hint = "a backend answers each request once, under the id that it has"});
    return;
  }
  found->second->answer = std::move(answer.result);
  changed_.notify_all();
}

void Connection::take_description(const Result<Json::Value>& result) {
  if (!result) {
    Error error = result.error();
    error.message = quotable(error.message, secrets_);
    error.hint = quotable(error.hint.text(), secrets_);
    break_off(std::move(error));
    return;
  }
  const auto description = read_description(*result);
  if (!description) {
    Error error = description.error();
    error.message = "its description cannot be used: " + error.message;
    break_off(std::move(error));
    return;
  }
  const auto& schemes = description->schemes;
  if (std::ranges::find(schemes, command_.scheme) == schemes.end()) {
    break_off({.code = Code::bad_response,
               .message = quotable(fmt::format("it serves {}, not \"{}\"", quoted(schemes), command_.scheme), secrets_),
               .hint = "configure it for a scheme that it serves"});
    return;
  }
  is_described_ = true;
  log(fmt::format("is {} {}", description->name, description->version));
  changed_.notify_all();
}

void Connection::break_off(Error error) {
  end_calls({CallFailure::Retry::no, std::move(error)});
  child_->request_end();
}

void Connection::end_calls(End end) {
  end_ = std::move(end);
  changed_.notify_all();
}

void Connection::on_words(const std::string& line) {
  const std::lock_guard lock(mutex_);
  last_words_ = quotable(line, secrets_);
  log("says: " + line);
}

void Connection::on_excess(Error why) {
  const std::lock_guard lock(mutex_);
  if (!end_) {
    end_calls({CallFailure::Retry::no, std::move(why)});
  }
}

void Connection::on_end(const std::string& how) {
  const std::lock_guard lock(mutex_);
  if (end_) {
    return;
  }
  Error error{.code = Code::unreachable,
              .message = fmt::format("it ended twice without an answer ({})", how),
              .hint = fmt::format("run \"{}\" by hand to see why it ends", command_.command[0])};
  if (!last_words_.empty()) {
    error.message += fmt::format("; its last words were \"{}\"", last_words_);
  }
  end_calls({CallFailure::Retry::once, std::move(error)});
}

// Writes to the log of the oldest open call, because the output of a process belongs to no particular call.
void Connection::log(const std::string& line) const {
  if (!open_.empty()) {
    open_.front()->log->write(LogLevel::debug,
                              fmt::format("the backend \"{}\" {}", command_.scheme, quotable(line, secrets_)));
  }
}

Result<Json::Value> Program::call(const Call& call, const Context& context) {
  for (int ended = 0;;) {
    MODLOCK_TRY(context.check());
    MODLOCK_TRY(const auto open, connection(call, context.children));
    auto result = open->call(call, context);
    if (result) {
      return std::move(*result);
    }
    const auto again = result.error().again;
    ended += again == CallFailure::Retry::once ? 1 : 0;
    if (again == CallFailure::Retry::no || ended == kProcessesOfACall) {
      return fail(std::move(result.error().error));
    }
  }
}

Result<std::shared_ptr<Connection>> Program::connection(const Call& call, const ChildLimits& limits) {
  MODLOCK_TRY(check_external_command(command_));
  const std::lock_guard lock(mutex_);
  if (connection_ && connection_->is_open()) {
    return connection_;
  }
  auto opened = Connection::open(command_, limits);
  if (opened) {
    connection_ = *opened;
    return opened;
  }
  Error error = std::move(opened.error());
  if (error.code == Code::tool_missing) {
    error.message = fmt::format("the backend \"{}\" is needed to {}, and its program \"{}\" is not there",
                                command_.scheme, call.doing, command_.command[0]);
    error.hint = "install the program, or correct the command of the backend in your settings";
    return fail(std::move(error));
  }
  return fail(
      with_note(std::move(error), fmt::format("while the backend \"{}\" was to {}", command_.scheme, call.doing)));
}

}  // namespace modlock::external
