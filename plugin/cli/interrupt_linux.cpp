#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "plugin/cli/interrupt.h"

namespace modlock::cli {
namespace {

// SIGUSR1 only ends the wait when the object is destroyed.
sigset_t waited_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    sigaddset(&set, number);
  }
  return set;
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t set = waited_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  waiter_ = std::thread([this] { wait(); });
}

Interrupt::~Interrupt() {
  done_ = true;
  pthread_kill(waiter_.native_handle(), SIGUSR1);
  waiter_.join();
}

void Interrupt::wait() {
  const sigset_t set = waited_signals();
  for (;;) {
    siginfo_t signal{};
    const int number = sigwaitinfo(&set, &signal);
    if (done_) {
      return;
    }
    if (number == SIGUSR1 || number < 0) {
      continue;
    }
    if (const int receiver = receiver_; receiver != 0) {
      const bool has_it_already = receiver > 0 && signal.si_code == SI_KERNEL;
      if (!has_it_already) {
        kill(receiver, number);
      }
      continue;
    }
    if (signal_.exchange(number) != 0) {
      std::_Exit(128 + number);
    }
    stop_.request_stop();
  }
}

void open_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) == -1) {
      // Opened write-only for stdin and read-only for the others, so that using them fails instead of seeming to work.
      (void)::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
    }
  }
}

}  // namespace modlock::cli
