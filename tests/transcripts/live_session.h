#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>

#include "backends/base/descriptor.h"
#include "tests/protocol/rpc/pipe.h"

namespace modlock::test {

// A `serve` to talk to line by line, with pipes of its own. Killed at the end, should it still run.
class LiveSession {
 public:
  LiveSession(const std::string& binary, const std::map<std::string, std::string>& environment,
              bool without_stderr = false) {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in.reader(), STDIN_FILENO);
      ::dup2(out.writer(), STDOUT_FILENO);
      const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      without_stderr ? ::close(STDERR_FILENO) : ::dup2(nowhere, STDERR_FILENO);
      for (const auto& [name, value] : environment) {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
      in.close_writer();
      out.close_reader();
      ::execl(binary.c_str(), binary.c_str(), "serve", nullptr);
      ::_exit(127);
    }
    in.close_reader();
    out.close_writer();
  }
  ~LiveSession() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      exit_code();
    }
  }
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  void send(const std::string& line) const { in.send(line + "\n"); }
  void initialize(const std::string& more = "") {
    send(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersions":["1.0"])" + more + "}}");
    (void)out.receive_line();
  }
  void signal(int number) const { ::kill(pid_, number); }
  int pid() const { return pid_; }

  // Waits for its end.
  int exit_code() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // Readable once it has ended.
  Descriptor process() const { return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))); }

  // The most memory it has held, in MiB.
  long peak_memory() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) {
        return std::stol(line.substr(6)) / 1024;
      }
    }
    return -1;
  }

  Pipe in;
  Pipe out;

 private:
  pid_t pid_ = -1;
};

}  // namespace modlock::test
