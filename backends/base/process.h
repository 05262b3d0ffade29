#pragma once

#include <filesystem>
#include <functional>
#include <map>
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

}  // namespace modlock
