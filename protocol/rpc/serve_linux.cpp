#include "protocol/rpc/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "protocol/base/system_reason.h"
#include "protocol/rpc/dispatcher.h"
#include "protocol/rpc/line_writer.h"

namespace modlock {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Makes SIGTERM, SIGINT and (unless it is ignored) SIGHUP pollable. They are blocked in the thread that owns the
// object.
class SignalWatch {
 public:
  SignalWatch() {
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGINT);
    if (struct sigaction hangup{}; ::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
      sigaddset(&watched, SIGHUP);  // unless it is ignored, as under nohup
    }
    pthread_sigmask(SIG_BLOCK, &watched, &before_);
    fd_ = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd_ < 0) {
      // It is better to be ended by a signal than to miss it.
      pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
  }
  ~SignalWatch() {
    if (fd_ >= 0) {
      ::close(fd_);
      pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Readable while a signal is pending; -1 if the system cannot provide the descriptor.
  int fd() const { return fd_; }
  // Returns the number of the next pending signal.
  std::optional<int> take() const {
    signalfd_siginfo info{};
    const bool is_read = fd_ >= 0 && ::read(fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info);
    return is_read ? std::optional(static_cast<int>(info.ssi_signo)) : std::nullopt;
  }

 private:
  int fd_ = -1;
  sigset_t before_{};
};

// Makes the end of another process pollable.
class ProcessWatch {
 public:
  ProcessWatch() = default;
  ~ProcessWatch() { stop(); }
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // False if there is no such process here: the number may belong to another namespace.
  bool watch(std::int64_t process) {
    if (process <= 0 || process > std::numeric_limits<pid_t>::max() || fd_ >= 0) {
      return false;
    }
    // glibc has no wrapper before 2.36; the descriptor is closed on exec by definition.
    fd_ = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0));
    return fd_ >= 0;
  }
  void stop() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }
  // Readable after the process ended; -1 while none is watched.
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

// The reason that ended a wait. `readable` and `woken` continue the session, the others end it.
struct Event {
  enum class Kind { woken, readable, timeout, signal, parent_gone, reader_gone } kind = Kind::woken;
  int signal = 0;
};

// One session. Everything happens in the thread that calls `run`, except the work (the pool) and the writing.
class Session {
 public:
  Session(const MethodTable& methods, const ServeOptions& options)
      : options_(options),
        reader_(options.in_fd, options.max_message_bytes),
        writer_(options.out_fd, [this] { wakeup_.notify(); }),
        dispatcher_(methods,
                    {.write = [this](std::string line) { writer_.write(std::move(line)); },
                     .offer = [this](std::string line) { writer_.offer(std::move(line)); }},
                    options.pool, *options.log, [this] { wakeup_.notify(); }) {}

  int run() {
    while (true) {
      const bool ended = handle_lines();
      if (writer_.is_closed()) {
        return leave_unread();
      }
      if (dispatcher_.exit_requested() && !dispatcher_.is_shut_down()) {
        return cancel(1);
      }
      if (ended || dispatcher_.exit_requested()) {
        return drain();
      }
      const Event event = wait(!writer_.is_backlogged(), std::nullopt);
      if (event.kind == Event::Kind::signal) {
        return cancel(128 + event.signal);
      }
      if (event.kind == Event::Kind::parent_gone) {
        return cancel(1);
      }
      if (event.kind == Event::Kind::reader_gone) {
        return leave_unread();
      }
      if (event.kind == Event::Kind::readable) {
        reader_.fill();
      }
    }
  }

 private:
  // Returns true at the end of input.
  bool handle_lines() {
    while (!dispatcher_.exit_requested() && !writer_.is_backlogged()) {
      const std::optional<Frame> frame = reader_.next();
      if (!frame) {
        return false;
      }
      switch (frame->kind) {
        case Frame::Kind::end:
          return true;
        case Frame::Kind::too_large:
          dispatcher_.handle_too_large(std::min(options_.max_message_bytes, kLargestMaxMessageBytes));
          break;
        case Frame::Kind::line:
          dispatcher_.handle_line(frame->text);
          break;
      }
      watch_host();
    }
    return false;
  }

  void watch_host() {
    if (!host_known_ && dispatcher_.host_process()) {
      host_known_ = true;
      if (!host_.watch(*dispatcher_.host_process())) {
        options_.log->write(LogLevel::warning, fmt::format("processId {} is not a process that can be watched",
                                                           *dispatcher_.host_process()));
      }
    }
  }

  Event wait(bool for_input, std::optional<SteadyClock::time_point> until) {
    int timeout = -1;
    if (until) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - SteadyClock::now());
      timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30U));
    }
    pollfd waiting[] = {{signals_.fd(), POLLIN, 0},
                        {host_.fd(), POLLIN, 0},
                        {wakeup_.fd(), POLLIN, 0},
                        {for_input ? options_.in_fd : -1, POLLIN, 0},
                        {has_reader_ ? options_.out_fd : -1, 0, 0}};  // only what is always told: an error, the end
    const int ready = ::poll(waiting, std::size(waiting), timeout);
    if (ready == 0) {
      return {Event::Kind::timeout};
    }
    if (ready < 0) {
      return {Event::Kind::woken};
    }
    if (waiting[0].revents != 0) {
      if (const std::optional<int> number = signals_.take()) {
        return {Event::Kind::signal, *number};
      }
    }
    if (waiting[1].revents != 0) {
      host_.stop();  // it would stay readable
      return {Event::Kind::parent_gone};
    }
    if (waiting[4].revents != 0) {
      has_reader_ = false;
      return {Event::Kind::reader_gone};
    }
    wakeup_.clear();
    return {waiting[3].revents != 0 ? Event::Kind::readable : Event::Kind::woken};
  }

  bool is_settled() const { return dispatcher_.is_idle() && writer_.is_idle(); }

  int drain() {
    const auto until = SteadyClock::now() + options_.drain;
    while (!is_settled()) {
      if (writer_.is_closed()) {
        return leave_unread();
      }
      const Event event = wait(false, until);
      if (event.kind == Event::Kind::signal) {
        return cancel(128 + event.signal);
      }
      if (event.kind == Event::Kind::timeout || event.kind == Event::Kind::parent_gone) {
        return cancel(1);
      }
      if (event.kind == Event::Kind::reader_gone) {
        return leave_unread();
      }
    }
    return 0;
  }

  int leave_unread() { return cancel(dispatcher_.is_shut_down() ? 0 : 1, options_.unread_grace); }

  int cancel(int exit_code) { return cancel(exit_code, options_.cancel_grace); }

  int cancel(int exit_code, std::chrono::milliseconds grace) {
    const auto until = SteadyClock::now() + grace;
    dispatcher_.cancel_all();
    while (!is_settled()) {
      const Event event = wait(false, until);
      if (event.kind == Event::Kind::timeout || event.kind == Event::Kind::signal) {
        break;
      }
    }
    if (!dispatcher_.is_idle()) {
      options_.abandon ? options_.abandon(exit_code) : std::_Exit(exit_code);
    }
    return exit_code;
  }

  const ServeOptions& options_;
  SignalWatch signals_;  // before any thread starts
  ProcessWatch host_;
  bool host_known_ = false;
  bool has_reader_ = true;
  Wakeup wakeup_;
  LineReader reader_;
  LineWriter writer_;
  Dispatcher dispatcher_;
};

}  // namespace

int serve(const MethodTable& methods, const ServeOptions& options) {
  return Session(methods, options).run();
}

Result<int> take_stdout() {
  const int copy = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (copy < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    const int reason = errno;
    if (copy >= 0) {
      ::close(copy);
    }
    return fail(Code::io_error, fmt::format("stdout cannot be used: {}", system_reason(reason)),
                "start the program with stdout and stderr open");
  }
  return copy;
}

}  // namespace modlock
