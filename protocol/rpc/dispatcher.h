#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "protocol/base/log.h"
#include "protocol/base/result.h"
#include "protocol/messages/session.h"
#include "protocol/rpc/method_table.h"
#include "protocol/rpc/rpc.h"
#include "protocol/rpc/worker_pool.h"

namespace modlock {

// The log of one session. Passes lines up to its level to another log (stderr) and, if the host requested it, to the
// host as `log/message` notifications {level, message}. Thread-safe.
class SessionLog final : public Log {
 public:
  using Send = std::function<void(std::string line)>;
  SessionLog(Log& next, Send send, LogLevel level = LogLevel::warning);

  void write(LogLevel level, std::string_view line) override;
  void set_level(LogLevel level) { level_ = level; }
  void send_to_host(bool is_wanted) { sends_to_host_ = is_wanted; }

 private:
  Log& next_;
  const Send send_;
  std::atomic<LogLevel> level_;
  std::atomic<bool> sends_to_host_{false};
};

// Accepts "error", "warning", "info" and "debug".
std::optional<LogLevel> parse_log_level(std::string_view text);

// Turns the progress of one request into `$/progress` notifications {token, value{kind: begin|report|end, …}}: `begin`
// at construction, reports at least `kInterval` apart (others are dropped), `end` from `end` or the destructor, nothing
// after it. Thread-safe.
class RequestProgress final : public Progress {
 public:
  using Send = std::function<void(std::string line)>;
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  static constexpr std::chrono::milliseconds kInterval{100};

  // `token` is the source text of the host's token; `title` names the operation.
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

// The states of a session: fresh until `initialize` succeeds, ready until `shutdown`, then draining.
class Lifecycle {
 public:
  // Whether a request may run now. Errors: NOT_INITIALIZED (fresh: all except initialize, rpc.discover and ping),
  // SHUTTING_DOWN (draining: all), INVALID_REQUEST (a second initialize; a lifecycle method inside a batch; a
  // notification of the protocol that was sent as a request).
  Result<void> admit(std::string_view method, bool in_batch) const;

  void initialized() { state_ = State::ready; }
  void shut_down() { state_ = State::draining; }
  bool is_shut_down() const { return state_ == State::draining; }

 private:
  enum class State { fresh, ready, draining };
  State state_ = State::fresh;
};

// initialize, initialized, shutdown, exit.
bool is_lifecycle_method(std::string_view method);

// The output of a dispatcher, in whole lines. Called from several threads; `offer` is for lines that may be dropped.
struct OutgoingChannel {
  std::function<void(std::string line)> write = {};
  std::function<void(std::string line)> offer = {};
};

// Reads lines, runs methods, sends responses.
//
// The thread that calls `handle_line` only checks the envelope and keeps the order. It runs only methods that must
// overtake the queue or take effect before the next line: $/cancelRequest, exit, log/setLevel, ping, initialize,
// shutdown. All other methods wait for a worker. Every request gets exactly one response. No lock is held while a
// handler, the channel or `on_idle` runs.
//
// The table supplies `initialize` (which should not block) and all methods of the domain. The params of a successful
// `initialize` configure the dispatcher: capabilities.logMessage, limits.maxMessageBytes (of the responses),
// options.logLevel, processId.
class Dispatcher {
 public:
  // `on_idle` is called, from any thread, when the last request in flight is answered.
  Dispatcher(const MethodTable& methods, OutgoingChannel channel, WorkerPool::Limits limits, Log& log,
             std::function<void()> on_idle);

  // Only for the reader thread:
  void handle_line(std::string_view line);
  void handle_too_large(std::size_t max_bytes);
  bool exit_requested() const { return exit_requested_; }
  bool is_shut_down() const { return lifecycle_.is_shut_down(); }
  std::optional<std::int64_t> host_process() const { return host_process_; }
  // Requests cancellation of every request in flight; those that wait for a worker are answered at once.
  void cancel_all();

  // Whether no request is in flight. May be called from any thread.
  bool is_idle() const;

  // Methods and notifications that the dispatcher serves itself.
  static std::vector<std::string> own_methods();

 private:
  struct Call;

  void handle(Message message, const std::shared_ptr<BatchReply>& batch, std::size_t bytes);
  void handle_notification(const Message& message, bool in_batch);
  void handle_request(Message message, Reply::Send send, bool in_batch, std::size_t bytes);
  // False if the method is for a worker.
  bool handle_here(const Message& message, Reply& reply);
  void initialize(const Message& message, Reply& reply);
  Result<void> set_log_level(const Json::Value& params);
  // Registers the id and the progress token. Errors: DUPLICATE_ID, INVALID_PARAMS.
  Result<void> enter(const Message& message, const std::stop_source& stop);
  void leave(const std::string& key, const std::string& progress_token);
  void sent();
  void run(Call& call);
  void cancel(const std::string& key);

  const MethodTable& methods_;
  const OutgoingChannel outlet_;
  const std::function<void()> on_idle_;
  SessionLog log_;
  Lifecycle lifecycle_;
  bool exit_requested_ = false;
  std::optional<std::int64_t> host_process_;
  std::size_t max_response_bytes_ = 0;

  mutable std::mutex mutex_;
  std::map<std::string, std::stop_source> in_flight_;  // by the key of the id
  std::set<std::string> progress_tokens_;
  std::size_t unanswered_ = 0;  // requests whose response was not sent to the channel yet
  WorkerPool pool_;             // last: its threads use all of the above
};

}  // namespace modlock
