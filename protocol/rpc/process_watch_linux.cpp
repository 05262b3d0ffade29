#include "protocol/rpc/process_watch.h"

#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <limits>

namespace modlock {

SignalWatch::SignalWatch() {
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

SignalWatch::~SignalWatch() {
  if (fd_ >= 0) {
    ::close(fd_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
}

std::optional<int> SignalWatch::take() const {
  signalfd_siginfo info{};
  if (fd_ < 0 || ::read(fd_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) {
    return std::nullopt;
  }
  return static_cast<int>(info.ssi_signo);
}

ProcessWatch::~ProcessWatch() {
  stop();
}

void ProcessWatch::stop() {
  if (fd_ >= 0) {
    ::close(fd_);
    fd_ = -1;
  }
}

bool ProcessWatch::watch(std::int64_t process) {
  if (process <= 0 || process > std::numeric_limits<pid_t>::max() || fd_ >= 0) {
    return false;
  }
  // glibc has no wrapper before 2.36; the descriptor is closed on exec by definition.
  fd_ = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0));
  return fd_ >= 0;
}

}  // namespace modlock
