#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include "backends/external/child.h"
#include "protocol/base/result.h"
#include "protocol/base/system_reason.h"

namespace modlock::external {
namespace {

// Enough to read what an ended child left in a pipe (at most 1 MiB). Output that other processes still write is
// ignored.
constexpr int kReadsOfAPipe = 16;
// In milliseconds.
constexpr int kTimeToEnd = 500;
constexpr std::chrono::milliseconds kUsagePolling{100};
constexpr int kFileTooLarge = 128 + SIGXFSZ;  // as an exit code

Error excess(std::string message, std::string hint) {
  return {.code = Code::limit_exceeded, .message = std::move(message), .hint = std::move(hint)};
}

tl::unexpected<Error> cannot_attend(const std::string& program, std::error_code reason) {
  return fail(Code::io_error, fmt::format("cannot run \"{}\": {}", program, system_reason(reason.value())),
              std::string(system_advice(reason.value())));
}

}  // namespace

Result<std::unique_ptr<Child>> Child::start(std::vector<std::string> command, const ChildLimits& limits,
                                            ChildListener& listener) {
  const std::string program = command.empty() ? std::string() : command.front();
  // Not our working directory, which is not the backend's concern.
  MODLOCK_TRY(auto process, StartedChild::start(Command{.argv = std::move(command), .directory = "/"}, true));
  process.limit_files(limits.file_size);
  Descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) {
    return cannot_attend(program, std::error_code(errno, std::generic_category()));
  }
  try {
    return std::unique_ptr<Child>(new Child(std::move(process), limits, std::move(wake), listener));
  } catch (const std::system_error& error) {
    return cannot_attend(program, error.code());
  }
}

Child::Child(StartedChild process, const ChildLimits& limits, Descriptor wake, ChildListener& listener)
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

bool Child::exceeds_memory() {
  const auto now = std::chrono::steady_clock::now();
  if (now - measured_ < kUsagePolling) {
    return false;
  }
  measured_ = now;
  // The child may have started other processes before the limit could be inherited.
  process_.limit_files(limits_.file_size);
  return process_.usage().memory > limits_.memory;
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
    is_too_large = !has_ended && exceeds_memory();
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

}  // namespace modlock::external
