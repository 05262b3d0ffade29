#pragma once

namespace modlock {

// Wakes a thread that waits in poll: a pipe to itself. `notify` may be called from any thread and never blocks; several
// notifications before a `clear` count as one.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  void notify() const;
  void clear() const;
  // Readable while there is a notification.
  int fd() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace modlock
