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
  std::map<std::string, std::string> set_environment = {};  // on top of ours
  std::vector<std::string> unset_environment = {};          // names; a trailing `*` takes all with that prefix
  bool keeps_tokens = false;                                // else TF_TOKEN_* of ours are not passed on
  std::string input = {};                                   // written to stdin (then a pipe), if not empty
  std::size_t output_limit = std::size_t{256} << 20U;       // more on stdout is LIMIT_EXCEEDED
};

struct Finished {
  int exit_code = 0;  // 128 + n where signal n ended it
  std::string output;
  std::string error_output;  // the last 64 KiB
};

// Runs to the end of the child itself: what is then left of its process group is killed, and a stream that somebody
// still holds open is not waited for. When the context is cancelled or its deadline passes, the group is asked to end
// (SIGTERM), killed two seconds later, and REQUEST_CANCELLED or DEADLINE_EXCEEDED returned; likewise TIMEOUT when one
// of the times of Context::children passes. More than its memory is LIMIT_EXCEEDED, and killed at once. A program that
// is not on PATH is TOOL_MISSING (the caller adds what needed it); one that cannot be started is IO_ERROR. A non-zero
// exit is not an error here. Messages name the program, never its arguments. Thread-safe, as long as nobody changes the
// environment.
Result<Finished> run_command(const Command& command, const Context& context);

// Whether a program is on PATH; its path, else nullopt. Relative entries of PATH are passed over; a name with a slash
// is looked for where it says.
std::optional<std::filesystem::path> find_program(std::string_view name);

// The environment of a child as NAME=value texts: ours, without what the command unsets and without tokens, with what
// it sets.
std::vector<std::string> child_environment(const Command& command);

}  // namespace modlock
