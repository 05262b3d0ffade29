#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

// A child process to run: no shell, stdin is /dev/null, its own process group, no controlling terminal (it cannot
// prompt), stdout and stderr through pipes, no other descriptor.
struct Command {
  std::vector<std::string> argv;  // argv[0] is looked up on PATH
  std::optional<std::filesystem::path> directory = {};
  std::map<std::string, std::string> set_environment = {};  // added to that of this process
  std::vector<std::string> unset_environment = {};          // names; a trailing `*` matches all with that prefix
  bool keeps_tokens = false;                                // else TF_TOKEN_* variables are not passed on
  std::string input = {};                                   // written to stdin (then a pipe), if not empty
  std::size_t output_limit = std::size_t{256} << 20U;       // more on stdout is LIMIT_EXCEEDED
};

struct Finished {
  int exit_code = 0;  // 128 + n if signal n ended it
  std::string output;
  std::string error_output;  // the last 64 KiB
};

// Runs until the child itself ends. Then the rest of its process group is killed, and streams that another process
// still holds open are not waited for. When the context is cancelled or its deadline passes, the group gets SIGTERM, is
// killed two seconds later, and the result is REQUEST_CANCELLED or DEADLINE_EXCEEDED. The same happens, with TIMEOUT,
// when one of the times of Context::children passes. If the child exceeds its memory limit, it is killed immediately
// (LIMIT_EXCEEDED). Other errors: TOOL_MISSING (the program is not on PATH; the caller adds what needed it), IO_ERROR
// (it cannot be started). A non-zero exit code is not an error here. Messages name the program, never its arguments.
// Thread-safe if no thread changes the environment.
Result<Finished> run_command(const Command& command, const Context& context);

// Returns the path of a program on PATH; nullopt if it is not found. Relative entries of PATH are ignored. A name with
// a slash is a path itself.
std::optional<std::filesystem::path> find_program(std::string_view name);

// Returns the environment of a child as NAME=value texts: that of this process, with the changes of the command.
std::vector<std::string> child_environment(const Command& command);

// The resources that a process and its descendants use, as far as the kernel reports them; zeros if it has ended.
struct ProcessUsage {
  std::uint64_t memory = 0;       // resident bytes, without mapped files
  std::uint64_t transferred = 0;  // bytes read and written
  std::chrono::milliseconds cpu{0};
};

ProcessUsage process_usage(int pid);
// Returns the largest size of a file that this process may write (ulimit -f); nullopt if it is not limited.
std::optional<std::uint64_t> file_size_limit();

// Returns the process and its descendants, as far as the kernel reports them.
std::vector<int> process_tree(int pid);

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
