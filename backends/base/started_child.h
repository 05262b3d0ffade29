#pragma once

#include <string>

#include "backends/base/descriptor.h"
#include "backends/base/process.h"

namespace modlock {

// A running child of a `Command`, with our ends of its streams, which do not block. The destructor kills the child and
// its group. Movable; not for use from several threads.
class StartedChild {
 public:
  // `with_input`: stdin is a pipe, else /dev/null. Errors: TOOL_MISSING and IO_ERROR, as for run_command().
  static Result<StartedChild> start(const Command& command, bool with_input);
  // Kills every running child with its group, and prevents further ones from starting. For a process that ends while
  // its threads still wait for children.
  static void kill_all();
  // Limits each file that the child and its descendants write from now on; a larger one ends them (SIGXFSZ).
  void limit_files(std::uint64_t bytes) const;

  ~StartedChild();
  StartedChild(StartedChild&& other) noexcept;
  StartedChild& operator=(StartedChild&&) = delete;

  Descriptor& in() { return in_; }
  Descriptor& out() { return out_; }
  Descriptor& err() { return err_; }

  // Readable once the child has ended; -1 if the kernel has no such descriptor.
  int end_event() const { return pidfd_.get(); }
  // An ended child is not reaped before its group is killed, so that the number cannot belong to another process.
  bool has_ended() const;
  // Returns the usage so far, including that of its descendants.
  ProcessUsage usage() const { return process_usage(pid_); }
  // Sends SIGTERM to the group and waits for the child itself, for at most two seconds.
  void ask_to_end() const;
  // Kills the rest of the group, waits for the child and returns its exit code, or 128 + n if signal n ended it. Call
  // it only once. Errors: IO_ERROR.
  Result<int> finish();

 private:
  StartedChild() = default;

  std::string program_;
  int pid_ = -1;
  Descriptor pidfd_;
  Descriptor in_;
  Descriptor out_;
  Descriptor err_;
};

}  // namespace modlock
