#pragma once

#include <memory>

namespace modlock {

// Keeps SIGPIPE from this thread while it writes to a pipe or a socket whose other end may be gone; what arose
// meanwhile is taken away again. The process keeps its own disposition. To be destroyed by the thread that made it.
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
