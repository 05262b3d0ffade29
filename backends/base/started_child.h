#pragma once

#include <string>

#include "backends/base/descriptor.h"
#include "backends/base/process.h"

namespace modlock {

// How often the usage of a child is measured.
inline constexpr std::chrono::milliseconds kUsagePolling{100};

// Returns IO_ERROR for a system call that failed with `reason` (an errno).
tl::unexpected<Error> cannot_run(const std::string& program, int reason);

// A running child of a `Command`, with our ends of its streams, which do not block. The destructor kills the child and
// its group. Movable; not for use from several threads.
class StartedChild {
 public:
  // `with_input`: stdin is a pipe, else /dev/null. A file larger than `limits.file_size` ends the child, or the
  // descendant that writes it (SIGXFSZ). Errors: TOOL_MISSING and IO_ERROR, as for run_command().
  static Result<StartedChild> start(const Command& command, bool with_input, const ChildLimits& limits);
  // Kills every running child with its group, and prevents further ones from starting. For a process that ends while
  // its threads still wait for children.
  static void kill_all();

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
  // Returns the usage so far, including that of its descendants; nullopt if it was measured a moment ago.
  std::optional<ProcessUsage> measure(const ChildLimits& limits);
  // Sends SIGTERM to the group and waits for the child itself, for at most two seconds.
  void ask_to_end() const;
  // Kills the rest of the group, waits for the child and returns its exit code, or 128 + n if signal n ended it. Call
  // it only once. Errors: IO_ERROR.
  Result<int> finish();

 private:
  StartedChild() = default;
  void limit_files(std::uint64_t bytes) const;

  std::string program_;
  int pid_ = -1;
  std::chrono::steady_clock::time_point measured_ = std::chrono::steady_clock::now();
  Descriptor pidfd_;
  Descriptor in_;
  Descriptor out_;
  Descriptor err_;
};

// While it exists, the groups of children end with this process even if it is killed (SIGKILL): a process of its own,
// without descriptors of this one, waits for its end and kills them. Must be created before there are threads, in a
// process that ignores SIGPIPE, and destroyed after the children. Without a further process, it has no effect.
class ChildGuardian {
 public:
  ChildGuardian();
  ~ChildGuardian();
  ChildGuardian(const ChildGuardian&) = delete;
  ChildGuardian& operator=(const ChildGuardian&) = delete;

 private:
  int pid_ = -1;
};

}  // namespace modlock
