#include <signal.h>

#include <cerrno>
#include <ctime>

#include "backends/base/process.h"

namespace modlock {

struct PipeSignalBlocked::State {
  sigset_t sigpipe{};
  sigset_t before{};
  bool was_pending = false;
};

PipeSignalBlocked::PipeSignalBlocked() : state_(std::make_unique<State>()) {
  ::sigemptyset(&state_->sigpipe);
  ::sigaddset(&state_->sigpipe, SIGPIPE);
  sigset_t pending;
  ::sigpending(&pending);
  state_->was_pending = ::sigismember(&pending, SIGPIPE) == 1;
  ::pthread_sigmask(SIG_BLOCK, &state_->sigpipe, &state_->before);
}

PipeSignalBlocked::~PipeSignalBlocked() {
  if (!state_->was_pending) {
    const timespec at_once{};
    while (::sigtimedwait(&state_->sigpipe, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
}

}  // namespace modlock
