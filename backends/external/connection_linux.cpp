#include "backends/external/connection.h"

#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <latch>
#include <system_error>
#include <thread>
#include <utility>

#include "backends/base/collections.h"
#include "backends/base/descriptor.h"
#include "backends/base/started_child.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"
#include "protocol/rpc/line_writer.h"

namespace modlock::external {
namespace {

constexpr std::size_t kLongestAnswer = kDefaultMaxMessageBytes;
constexpr std::size_t kLongestWords = std::size_t{16} << 10U;

constexpr std::uint64_t kDescribe = 0;  // the id of that request
constexpr int kProcessesOfACall = 2;

std::string listed(const std::vector<std::string>& words) {
  return words.empty() ? "nothing" : fmt::format("\"{}\"", fmt::join(words, "\", \""));
}

// Enough to read what an ended child left in a pipe (at most 1 MiB). Output that other processes still write is
// ignored.
constexpr int kReadsOfAPipe = 16;
// In milliseconds.
constexpr int kTimeToEnd = 500;
constexpr int kFileTooLarge = 128 + SIGXFSZ;  // as an exit code

Error excess(std::string message, std::string hint) {
  return {.code = Code::limit_exceeded, .message = std::move(message), .hint = std::move(hint)};
}

}  // namespace

// A long-running process that communicates in lines. It has its own process group, no controlling terminal, the working
// directory "/" and our environment. Both output streams are always read and writes are queued, so neither side can
// block the other. Members may be called from any thread.
class Child {
 public:
  // The child may use the memory of `limits` and write files of that size; the times in `limits` do not apply.
  // `listener` must outlive the child, and may be called before this returns. Errors: TOOL_MISSING, IO_ERROR.
  static Result<std::unique_ptr<Child>> start(std::vector<std::string> command, const ChildLimits& limits,
                                              Connection& listener);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void write(std::string line) { writer_.write(std::move(line)); }
  // Sends SIGTERM to the group, and kills it two seconds later. Returns at once.
  void request_end();
  // As `request_end`, but waits until the group has ended. Must not be called from the listener.
  void end();

 private:
  Child(StartedChild process, const ChildLimits& limits, Descriptor wake, Connection& listener);
  void attend();
  bool pass_on_words(LineReader& words);
  bool pass_on_answers(LineReader& answers);
  bool wait(bool words_are_open);
  bool ends_soon();

  StartedChild process_;
  const ChildLimits limits_;
  Descriptor wake_;
  Connection& listener_;
  std::atomic<bool> is_ending_{false};
  std::latch gone_{1};
  LineWriter writer_;
  std::thread thread_;
};

Result<std::unique_ptr<Child>> Child::start(std::vector<std::string> command, const ChildLimits& limits,
                                            Connection& listener) {
  const std::string program = command.empty() ? std::string() : command.front();
  // Not our working directory, which is not the backend's concern.
  MODLOCK_TRY(auto process, StartedChild::start(Command{.argv = std::move(command), .directory = "/"}, true, limits));
  Descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) {
    return cannot_run(program, errno);
  }
  try {
    return std::unique_ptr<Child>(new Child(std::move(process), limits, std::move(wake), listener));
  } catch (const std::system_error& error) {
    return cannot_run(program, error.code().value());
  }
}

Child::Child(StartedChild process, const ChildLimits& limits, Descriptor wake, Connection& listener)
    : process_(std::move(process)),
      limits_(limits),
      wake_(std::move(wake)),
      listener_(listener),
      writer_(process_.in().get()),
      thread_([this] { attend(); }) {}

Child::~Child() {
  request_end();
  thread_.join();
}

void Child::request_end() {
  is_ending_ = true;
  ::eventfd_write(wake_.get(), 1);
}

void Child::end() {
  request_end();
  gone_.wait();
}

// Returns false once the stream has ended.
bool Child::pass_on_words(LineReader& words) {
  words.fill();
  while (const auto frame = words.next()) {
    if (frame->kind == Frame::Kind::end) {
      return false;
    }
    if (frame->kind == Frame::Kind::line) {
      listener_.on_words(frame->text);
    }
  }
  return true;
}

bool Child::pass_on_answers(LineReader& answers) {
  while (const auto frame = answers.next()) {
    if (frame->kind == Frame::Kind::end) {
      return false;
    }
    listener_.on_line(*frame);
  }
  if (answers.is_discarding()) {
    // The line may never end.
    listener_.on_line(Frame{.kind = Frame::Kind::too_large});
    return false;
  }
  return true;
}

// Waits until there is output, the child has ended or must end, or its usage must be measured. Returns false once the
// child no longer reads its stdin.
bool Child::wait(bool words_are_open) {
  std::array<pollfd, 5> watched{{{process_.in().get(), 0, 0},
                                 {wake_.get(), POLLIN, 0},
                                 {process_.end_event(), POLLIN, 0},
                                 {process_.out().get(), POLLIN, 0},
                                 {words_are_open ? process_.err().get() : -1, POLLIN, 0}}};
  ::poll(watched.data(), watched.size(), static_cast<int>(kUsagePolling.count()));
  return (watched[0].revents & POLLERR) == 0;
}

// A process closes its streams a moment before it ends.
bool Child::ends_soon() {
  pollfd end{process_.end_event(), POLLIN, 0};
  ::poll(&end, 1, kTimeToEnd);
  return process_.has_ended();
}

void Child::attend() {
  LineReader answers(process_.out().get(), kLongestAnswer);
  LineReader words(process_.err().get(), kLongestWords);
  bool answers_are_open = true;
  bool words_are_open = true;
  const auto read_both = [&] {
    // Lines of stderr that were written before a response are passed on before it.
    answers.fill();
    words_are_open = words_are_open && pass_on_words(words);
    answers_are_open = answers_are_open && pass_on_answers(answers);
  };
  bool is_deaf = false;
  bool has_ended = false;
  bool is_too_large = false;
  while (answers_are_open && !is_deaf && !has_ended && !is_ending_ && !is_too_large) {
    is_deaf = !wait(words_are_open);
    has_ended = process_.has_ended();
    read_both();
    const auto usage = has_ended ? std::nullopt : process_.measure(limits_);
    is_too_large = usage && usage->memory > limits_.memory;
  }
  if (is_too_large) {
    listener_.on_excess(
        excess(fmt::format("it used more than the {} MiB of memory that a program may use here", limits_.memory >> 20U),
               "repair the backend, or raise child_memory in your settings"));
  }
  has_ended = has_ended || (!is_ending_ && !is_too_large && ends_soon());
  if (!has_ended && !is_too_large) {
    process_.ask_to_end();
  }
  for (int i = 0; i < kReadsOfAPipe && (answers_are_open || words_are_open); ++i) {
    read_both();
  }
  const auto exit_code = process_.finish();
  if (has_ended && exit_code && *exit_code == kFileTooLarge) {
    listener_.on_excess(excess(
        fmt::format("it wrote a file of more than the {} MiB that a program may write here", limits_.file_size >> 20U),
        "a backend fetches smaller files"));
  }
  listener_.on_end(has_ended && exit_code ? fmt::format("exit code {}", *exit_code)
                   : is_deaf              ? "it closed its stdin"
                                          : "it closed its stdout");
  gone_.count_down();
}

Connection::~Connection() = default;

Result<std::shared_ptr<Connection>> Connection::open(const ExternalCommand& command, const ChildLimits& limits) {
  const std::shared_ptr<Connection> connection(new Connection(command));
  // Early output of the child waits until `child_` is set.
  const std::lock_guard lock(connection->mutex_);
  MODLOCK_TRY(connection->child_, Child::start(command.command, limits, *connection));
  connection->send(kDescribe, "backend/describe", Json::Value(Json::objectValue));
  return connection;
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
    Error error = quoted(std::move(open.answer->error()));
    error.message = fmt::format("{} could not {}: {}", command_.name(), call.doing, error.message);
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
    CallFailure failure = *end_;
    failure.error.message = fmt::format("{} could not {}: {}", command_.name(), call.doing, failure.error.message);
    return failure;
  }
  if (auto ended = context.check(); !ended) {
    return {CallFailure::Retry::no,
            with_note(std::move(ended.error()), fmt::format("while {} was to {}", command_.name(), call.doing))};
  }
  return {CallFailure::Retry::no,
          {.code = Code::timeout,
           .message = fmt::format("{} could not {}: it had no answer in time", command_.name(), call.doing),
           .hint = "try again; the backend may wait for a server that is slow or does not answer"}};
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
  const auto description = result.and_then(read_description);
  if (!description) {
    Error error = quoted(description.error());
    error.message.insert(0, result ? "its description cannot be used: " : "");
    break_off(std::move(error));
    return;
  }
  const auto& schemes = description->schemes;
  if (!contains(schemes, command_.scheme)) {
    break_off({.code = Code::bad_response,
               .message = quotable(fmt::format("it serves {}, not \"{}\"", listed(schemes), command_.scheme), secrets_),
               .hint = "configure it for a scheme that it serves"});
    return;
  }
  is_described_ = true;
  log(fmt::format("is {} {}", description->name, description->version));
  changed_.notify_all();
}

Error Connection::quoted(Error error) const {
  error.message = quotable(error.message, secrets_);
  error.hint = quotable(error.hint.text(), secrets_);
  return error;
}

void Connection::break_off(Error error) {
  end_calls({CallFailure::Retry::no, std::move(error)});
  child_->request_end();
}

void Connection::end_calls(CallFailure end) {
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

Result<Json::Value> Program::ask(Question question, const SourceAddress& source, const Context& context) {
  if (context.offline) {
    return fail(Code::offline_miss,
                fmt::format("the backend \"{}\" may not {} in offline mode: it is not in the cache", command_.scheme,
                            question.doing),
                "run the command without offline mode");
  }
  const std::string identity = source.source.package_identity();
  question.params["source"] = identity;
  question.params["url"] = source.package_url.reveal();
  const auto begun = std::chrono::steady_clock::now();
  const auto end = begun + (question.method == "backend/fetch" ? limits_.fetch : limits_.answer);
  auto answer = call({question, secrets_of(source), end, begun + limits_.answer}, context);
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
  context.log->write(LogLevel::debug, fmt::format("{}, {} {}: {} in {} ms", command_.name(), question.method, identity,
                                                  answer ? "answered" : to_string(answer.error().code), time.count()));
  return answer;
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

namespace modlock {

std::string ExternalCommand::name() const {
  return fmt::format("the backend \"{}\" (\"{}\")", scheme, command.empty() ? "" : command[0]);
}

}  // namespace modlock
