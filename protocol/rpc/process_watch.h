#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

namespace modlock {

// Makes SIGTERM, SIGINT and (unless it is ignored) SIGHUP pollable. They are blocked in the thread that owns the
// object.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Readable while a signal is pending; -1 if the system cannot provide the descriptor.
  int fd() const { return fd_; }
  // Returns the number of the next pending signal.
  std::optional<int> take() const;

 private:
  int fd_ = -1;
  sigset_t before_{};
};

// Makes the end of another process pollable.
class ProcessWatch {
 public:
  ProcessWatch() = default;
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // False if there is no such process here: the number may belong to another namespace.
  bool watch(std::int64_t process);
  void stop();
  // Readable after the process ended; -1 while none is watched.
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace modlock
