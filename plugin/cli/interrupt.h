#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace modlock::cli {

// Opens /dev/null for each of the descriptors 0 to 2 that is closed, so that no other file gets its number and, with
// it, text that is meant for a person.
void open_standard_descriptors();

// While it lives, SIGINT, SIGTERM and SIGHUP ask `token()` to stop instead of ending the process; a second one ends it
// at once. Make it before any other thread.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  // The signal that came, or 0.
  int signal() const { return signal_; }

  // From now on signals are this process's, or where negative this group's, each passed on once, and none stops us; 0:
  // ours again. To a process in our own group the terminal gives its signals itself.
  void pass_to(int process) { receiver_ = process; }

 private:
  void wait();

  std::stop_source stop_;
  std::atomic<int> signal_{0};
  std::atomic<bool> done_{false};
  std::atomic<int> receiver_{0};
  std::thread waiter_;
};

}  // namespace modlock::cli
