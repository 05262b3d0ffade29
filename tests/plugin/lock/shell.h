#pragma once

#include <stdio.h>
#include <sys/wait.h>

#include <array>
#include <stdexcept>
#include <string>

namespace modlock::test {

struct ShellResult {
  int exit_code = 0;
  std::string output;
};

// Runs a command of the test's own making through the shell.
inline ShellResult run_shell(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    throw std::runtime_error("cannot run " + command);
  }
  ShellResult result;
  std::array<char, 4096> buffer{};
  std::size_t size = 0;
  while ((size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
    result.output.append(buffer.data(), size);
  }
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  return result;
}

}  // namespace modlock::test
