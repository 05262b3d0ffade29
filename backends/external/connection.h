#pragma once

#include <json/value.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/address/scrub.h"
#include "backends/base/context.h"
#include "backends/external/answer.h"
#include "backends/external/child.h"
#include "backends/external/external_backend.h"

namespace modlock::external {

// A request to a backend.
struct Call {
  std::string method;
  Json::Value params;
  std::string doing;                                      // in messages: `list the tags of "hg::https://…"`
  std::vector<std::string> secrets;                       // what the params tell the backend that nobody else may read
  std::chrono::steady_clock::time_point end;              // of our patience; the context may end it earlier
  std::chrono::steady_clock::time_point description_end;  // of our patience with a process that has not said what it is
};

// Why a call has no result.
struct CallFailure {
  enum class Retry {
    no,        // another process would say the same
    once,      // the process ended by itself
    certainly  // it was ended because of another call
  };
  Retry again = Retry::no;
  Error error;
};

// One process of a backend, and the calls that are open with it. Calls of several threads are told apart by their ids.
// It describes itself before it gets any; one that does not serve the scheme gets none. What breaks the protocol ends
// the process and all its calls. So does a call that is given up, since nobody could tell what else it would do.
class Connection final : private ChildListener {
 public:
  // Starts the program. Errors: TOOL_MISSING, IO_ERROR.
  static Result<std::shared_ptr<Connection>> open(const ExternalCommand& command, const ChildLimits& limits);

  // The result of the answer. Where there is none because the process has ended, its whole group has. Errors:
  // REQUEST_CANCELLED, DEADLINE_EXCEEDED, TIMEOUT (past `call.end`), UNREACHABLE (the process ended), BAD_RESPONSE,
  // LIMIT_EXCEEDED (the process went beyond its limits), and what the backend answers.
  tl::expected<Json::Value, CallFailure> call(const Call& call, const Context& context);

  // False once calls fail.
  bool is_open() const;

 private:
  struct Open {
    Log* log;
    std::optional<Result<Json::Value>> answer = {};
  };
  // Why no more answers come: the end of a sentence that names the call.
  struct End {
    CallFailure::Retry again;
    Error error;
  };

  explicit Connection(ExternalCommand command) : command_(std::move(command)) {}
  Result<void> start(const ChildLimits& limits);
  void on_line(const Frame& frame) override;
  void on_words(const std::string& line) override;
  void on_excess(Error why) override;
  void on_end(const std::string& how) override;

  // These expect the lock to be held.
  void send(std::uint64_t id, const std::string& method, const Json::Value& params);
  void take(Answer answer);
  void take_description(const Result<Json::Value>& result);
  void break_off(Error error);
  void end_calls(End end);
  void log(const std::string& line) const;
  CallFailure failure_of(const Call& call, bool in_time, const Context& context) const;
  std::string name() const;

  const ExternalCommand command_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_described_ = false;
  std::optional<End> end_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Open*> awaited_;
  std::list<Open*> open_;  // awaited or not yet sent, the oldest first
  Secrets secrets_;
  std::string last_words_;
  std::unique_ptr<Child> child_;
};

// The program of a backend: started when it is first asked and again after it has ended, one process at a time.
// Thread-safe.
class Program {
 public:
  explicit Program(ExternalCommand command) : command_(std::move(command)) {}

  // The result of the answer. A call whose process ends by itself is asked of another one, once. Errors: those of
  // Connection::call() and Connection::open(), and of check_external_command().
  Result<Json::Value> call(const Call& call, const Context& context);

 private:
  Result<std::shared_ptr<Connection>> connection(const Call& call, const ChildLimits& limits);

  const ExternalCommand command_;
  std::mutex mutex_;
  std::shared_ptr<Connection> connection_;
};

}  // namespace modlock::external
