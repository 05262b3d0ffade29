#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace modlock::cli {

// Opens /dev/null for each closed descriptor from 0 to 2, so that no other file gets its number and receives text meant
// for a person.
void open_standard_descriptors();

// While an object exists, SIGINT, SIGTERM and SIGHUP request a stop through `token()` instead of ending the process; a
// second signal ends it at once. Create it before any other thread.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  // Returns the received signal, or 0.
  int signal() const { return signal_; }

  // From now on signals are forwarded once to this process, or to this group if negative, and do not stop us; 0: they
  // stop us again. The terminal itself sends its signals to a process in our own group.
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
