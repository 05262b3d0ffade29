#pragma once

#include <memory>

namespace modlock {

// Blocks SIGPIPE in this thread while it writes to a pipe or a socket whose other end may be closed, and then discards
// a SIGPIPE that this caused. The disposition of the process is unchanged. The thread that created the object must
// destroy it.
class PipeSignalBlocked {
 public:
  PipeSignalBlocked();
  ~PipeSignalBlocked();
  PipeSignalBlocked(const PipeSignalBlocked&) = delete;
  PipeSignalBlocked& operator=(const PipeSignalBlocked&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace modlock
