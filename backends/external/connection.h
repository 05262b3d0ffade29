#pragma once

#include <fmt/format.h>
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
#include "backends/external/external_backend.h"
#include "protocol/base/result.h"
#include "protocol/rpc/line_reader.h"

namespace modlock::external {

class Child;

// What a backend is asked.
struct Question {
  std::string method;
  std::string doing;  // in messages: `list the tags of`, then with the source: `list the tags of "hg::https://…"`
  Json::Value params = Json::Value(Json::objectValue);
};

// A request to a backend.
struct Call : Question {
  std::vector<std::string> secrets;                       // in the params; only the backend may read them
  std::chrono::steady_clock::time_point end;              // the deadline; the context may end the call earlier
  std::chrono::steady_clock::time_point description_end;  // the deadline of backend/describe
};

// Why a call has no result.
struct CallFailure {
  enum class Retry {
    no,        // another process would respond the same
    once,      // the process ended by itself
    certainly  // another call ended the process
  };
  Retry again = Retry::no;
  Error error;
};

// One process of a backend, and its open calls. Ids distinguish the calls of several threads. The process must describe
// itself before it gets any call; if it does not serve the scheme, it gets none. A protocol violation ends the process
// and all its calls. A call that is given up does the same, because the process could be in any state after it.
class Connection final {
 public:
  ~Connection();
  // Starts the program. Errors: TOOL_MISSING, IO_ERROR.
  static Result<std::shared_ptr<Connection>> open(const ExternalCommand& command, const ChildLimits& limits);

  // Returns the result of the response. If there is none because the process has ended, its whole group has ended too.
  // Errors: REQUEST_CANCELLED, DEADLINE_EXCEEDED, TIMEOUT (past `call.end`), UNREACHABLE (the process ended),
  // BAD_RESPONSE, LIMIT_EXCEEDED (the process exceeded its limits), and the errors that the backend returns.
  tl::expected<Json::Value, CallFailure> call(const Call& call, const Context& context);

  // Returns false once calls fail.
  bool is_open() const;

 private:
  friend class Child;
  struct Open {
    Log* log;
    std::optional<Result<Json::Value>> answer = {};
  };
  explicit Connection(ExternalCommand command) : command_(std::move(command)) {}

  // The events of the child, on the thread that serves it. on_end() is the last call.
  // A line of its stdout, or the notice that a line exceeded kLongestAnswer.
  void on_line(const Frame& frame);
  // A line of its stderr. Lines longer than kLongestWords are skipped.
  void on_words(const std::string& line);
  // It exceeded its limits and is being ended: LIMIT_EXCEEDED ("it used more than …").
  void on_excess(Error why);
  // The child and the rest of its process group have ended: "exit code 3" (128 + n for signal n), "it closed its
  // stdout", "it closed its stdin".
  void on_end(const std::string& how);

  // The caller must hold the lock for these.
  void send(std::uint64_t id, const std::string& method, const Json::Value& params);
  void take(Answer answer);
  void take_description(const Result<Json::Value>& result);
  Error quoted(Error error) const;
  void break_off(Error error);
  void end_calls(CallFailure end);
  void log(const std::string& line) const;
  CallFailure failure_of(const Call& call, bool in_time, const Context& context) const;

  const ExternalCommand command_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_described_ = false;
  std::optional<CallFailure> end_;  // why no more responses come: the end of a sentence that names the call
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Open*> awaited_;
  std::list<Open*> open_;  // awaited or not yet sent, the oldest first
  Secrets secrets_;
  std::string last_words_;
  std::unique_ptr<Child> child_;
};

// The program of a backend. It is started on first use and again after it has ended, one process at a time.
// Thread-safe.
class Program {
 public:
  Program(ExternalCommand command, ExternalLimits limits) : command_(std::move(command)), limits_(limits) {}

  const ExternalCommand& command() const { return command_; }

  // Returns what `read` makes of the result of the response. If the process ends by itself, the question is repeated
  // once with another process. Errors: OFFLINE_MISS; those of Connection::call(), Connection::open(),
  // check_external_command() and `read`.
  template <typename Reader>
  auto ask(Question question, const SourceAddress& source, Reader read, const Context& context)
      -> decltype(read(Json::Value())) {
    question.doing += fmt::format(" \"{}\"", source.source.package_identity());
    MODLOCK_TRY(const auto answer, ask(question, source, context));
    auto result = read(answer);
    if (!result) {
      result.error().message = fmt::format("{} could not {}: its answer cannot be used: {}", command_.name(),
                                           question.doing, result.error().message);
    }
    return result;
  }

 private:
  Result<Json::Value> ask(Question question, const SourceAddress& source, const Context& context);
  Result<Json::Value> call(const Call& call, const Context& context);
  Result<std::shared_ptr<Connection>> connection(const Call& call, const ChildLimits& limits);

  const ExternalCommand command_;
  const ExternalLimits limits_;
  std::mutex mutex_;
  std::shared_ptr<Connection> connection_;
};

}  // namespace modlock::external
