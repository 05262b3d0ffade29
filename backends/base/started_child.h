#pragma once

#include <string>

#include "backends/base/descriptor.h"
#include "backends/base/process.h"
#include "backends/base/process_usage.h"

namespace modlock {

// A child that runs as `Command` says, for whoever attends to it: our ends of its streams, which do not block, and its
// end. The destructor leaves neither the child nor its group behind. Movable; not for use from several threads.
class StartedChild {
 public:
  // `with_input`: stdin is a pipe, else /dev/null. Errors: TOOL_MISSING and IO_ERROR, as run_command() has them.
  static Result<StartedChild> start(const Command& command, bool with_input);
  // Kills every child that runs, with its group, and lets none start from then on: for a process that ends while its
  // threads still wait for children.
  static void kill_all();
  // From now on, for each file that the child and those that it started write; a longer one ends them (SIGXFSZ).
  void limit_files(std::uint64_t bytes) const;

  ~StartedChild();
  StartedChild(StartedChild&& other) noexcept;
  StartedChild& operator=(StartedChild&&) = delete;

  Descriptor& in() { return in_; }
  Descriptor& out() { return out_; }
  Descriptor& err() { return err_; }

  // Readable once the child has ended; -1 where the kernel has no such descriptor.
  int end_event() const { return pidfd_.get(); }
  // A child that has ended is left unreaped until its group is killed, so that its number cannot name anybody else.
  bool has_ended() const;
  // So far, with what it started.
  ProcessUsage usage() const { return process_usage(pid_); }
  // Asks the group to end (SIGTERM) and waits for the child itself, two seconds at most.
  void ask_to_end() const;
  // Kills what is left of the group and waits for the child: its exit code, 128 + n where signal n ended it. To be
  // called once. Errors: IO_ERROR.
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
