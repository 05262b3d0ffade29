#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

namespace modlock {

// SIGTERM, SIGINT and (unless it is ignored) SIGHUP as something to poll. They are blocked in the thread that holds the
// object.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Readable while a signal waits; -1 where the system has no such descriptor to give.
  int fd() const { return fd_; }
  // The number of the next signal that waits.
  std::optional<int> take() const;

 private:
  int fd_ = -1;
  sigset_t before_{};
};

// The end of another process as something to poll.
class ProcessWatch {
 public:
  ProcessWatch() = default;
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // False where there is no such process here: it may have a number of another namespace.
  bool watch(std::int64_t process);
  void stop();
  // Readable once the process is gone; -1 while none is watched.
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace modlock
