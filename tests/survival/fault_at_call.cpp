// usage: fault_at_call [OPTION...] -- PROGRAM [ARGUMENT...]
//
// Runs a program and lets something happen when it, or a child or a thread of its, comes to the N-th of certain system
// calls:
//   --calls GROUP[,GROUP...]  which calls count (watched_calls.h)
//   --below PATH              only those that name this path or one below it
//   --at N                    which of them, from 1
//   --lasting                 that one and all that follow (--error only)
//   --kill before|after       SIGKILL for all of its processes, before the call or when it was made
//   --error ERRNO             the call is not made, and fails with this number
//   --run COMMAND             a shell command, by which the call waits
//   --report FILE             the call that was met, for example "rename /a /b"; empty where there was none
//
// Exit: as the program, 128+n where signal n ended it; 125 where it cannot be traced.

#include <linux/elf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/survival/watched_calls.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<WatchedCall> calls;
  fs::path below = "/";
  unsigned long at = 1;
  bool lasting = false;
  enum class Kill { no, before, after } kill = Kill::no;
  int error = 0;
  std::string command;
  fs::path report;
  std::vector<char*> program;  // ends with null
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

Options parse(int argc, char** argv) {
  Options options;
  int i = 1;
  for (; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    const std::string name = argv[i];
    if (name == "--lasting") {
      options.lasting = true;
      continue;
    }
    if (++i == argc) {
      throw std::invalid_argument(name + " needs a value");
    }
    const std::string value = argv[i];
    if (name == "--calls") {
      options.calls = watched_calls(split(value));
    } else if (name == "--below") {
      options.below = value;
    } else if (name == "--at") {
      options.at = std::stoul(value);
    } else if (name == "--kill") {
      options.kill = value == "after" ? Options::Kill::after : Options::Kill::before;
    } else if (name == "--error") {
      options.error = std::stoi(value);
    } else if (name == "--run") {
      options.command = value;
    } else if (name == "--report") {
      options.report = value;
    } else {
      throw std::invalid_argument("no such option: " + name);
    }
  }
  options.program.assign(argv + std::min(i + 1, argc), argv + argc);
  if (options.program.empty() || options.calls.empty()) {
    throw std::invalid_argument("calls and a program are needed");
  }
  options.program.push_back(nullptr);
  return options;
}

// Stops the caller, who is traced, at each of the calls.
bool stop_at(const std::vector<WatchedCall>& calls) {
  std::vector<sock_filter> filter = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)}};
  for (const WatchedCall& call : calls) {
    filter.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<unsigned>(call.number)});
    filter.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRACE});
  }
  filter.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW});
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// The call that the stopped process is about to make fails instead.
void refuse_call(pid_t pid, int error) {
  user_regs_struct registers{};
  iovec area{&registers, sizeof registers};
  ::ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &area);
#if defined(__x86_64__)
  registers.orig_rax = static_cast<unsigned long long>(-1);
  registers.rax = static_cast<unsigned long long>(-error);
#elif defined(__aarch64__)
  int none = -1;
  iovec number{&none, sizeof none};
  ::ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &number);
  registers.regs[0] = static_cast<unsigned long long>(-error);
#else
#error "not known how a system call is refused on this processor"
#endif
  ::ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &area);
}

class Tracer {
 public:
  explicit Tracer(const Options& options) : options_(options) {}

  int run() {
    std::ofstream(options_.report);  // empty: nothing was met yet
    first_ = ::fork();
    if (first_ == 0) {
      ::raise(SIGSTOP);  // until we hold it
      if (!stop_at(options_.calls)) {
        ::_exit(125);
      }
      ::execvp(options_.program[0], options_.program.data());
      ::_exit(127);
    }
    constexpr long kFollow = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                             PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    int status = 0;
    if (first_ < 0 || ::waitpid(first_, &status, WUNTRACED) != first_ ||
        ::ptrace(PTRACE_SEIZE, first_, nullptr, kFollow) != 0) {
      std::fprintf(stderr, "fault_at_call: cannot trace: %s\n", std::strerror(errno));
      return 125;
    }
    ::kill(first_, SIGCONT);
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
      if (pid > 0) {
        handle(pid, status);
      }
    }
    return exit_code_;
  }

 private:
  void handle(pid_t pid, int status) {
    if (!WIFSTOPPED(status)) {
      alive_.erase(pid);
      if (pid == first_) {
        exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      }
      return;
    }
    alive_.insert(pid);
    if (is_killing_) {
      ::kill(pid, SIGKILL);
      return;
    }
    const int event = status >> 16;
    const int signal = WSTOPSIG(status);
    if (event == PTRACE_EVENT_SECCOMP) {
      meet(pid);
    } else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
      ::ptrace(PTRACE_LISTEN, pid, nullptr, nullptr);
    } else if (event == 0 && signal == (SIGTRAP | 0x80)) {
      leave(pid);
    } else {
      ::ptrace(PTRACE_CONT, pid, nullptr, event == 0 ? static_cast<long>(signal) : 0L);
    }
  }

  // A process stands before a watched call.
  void meet(pid_t pid) {
    const bool is_struck = is_counted(pid) && ++count_ >= options_.at && (count_ == options_.at || options_.lasting);
    if (!is_struck) {
      ::ptrace(PTRACE_CONT, pid, nullptr, nullptr);
      return;
    }
    if (options_.error != 0) {
      refuse_call(pid, options_.error);
    }
    if (!options_.command.empty() && std::system(options_.command.c_str()) != 0) {
      std::fprintf(stderr, "fault_at_call: failed: %s\n", options_.command.c_str());
    }
    if (options_.kill == Options::Kill::before) {
      kill_all();
    } else if (options_.kill == Options::Kill::after) {
      leaving_ = pid;
      ::ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
    } else {
      ::ptrace(PTRACE_CONT, pid, nullptr, nullptr);
    }
  }

  // It has made a call. The first such stop after a seccomp stop is still before it on kernels that enter late.
  void leave(pid_t pid) {
    __ptrace_syscall_info info{};
    ::ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info);
    if (pid == leaving_ && info.op == PTRACE_SYSCALL_INFO_EXIT) {
      kill_all();
    } else {
      ::ptrace(pid == leaving_ ? PTRACE_SYSCALL : PTRACE_CONT, pid, nullptr, nullptr);
    }
  }

  bool is_counted(pid_t pid) {
    __ptrace_syscall_info info{};
    ::ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info);
    Arguments arguments{};
    std::copy(std::begin(info.seccomp.args), std::end(info.seccomp.args), arguments);
    for (const WatchedCall& call : options_.calls) {
      const auto paths =
          call.number == static_cast<long>(info.seccomp.nr) ? paths_of(call, pid, arguments) : std::vector<fs::path>();
      if (std::none_of(paths.begin(), paths.end(), [this](const fs::path& path) { return is_below(path); })) {
        continue;
      }
      if (count_ + 1 == options_.at) {
        report(call, paths);
      }
      return true;
    }
    return false;
  }

  bool is_below(const fs::path& path) const {
    return std::mismatch(options_.below.begin(), options_.below.end(), path.begin(), path.end()).first ==
           options_.below.end();
  }

  void report(const WatchedCall& call, const std::vector<fs::path>& paths) const {
    std::ofstream out(options_.report);
    out << call.name;
    for (const fs::path& path : paths) {
      out << ' ' << path.string();
    }
  }

  void kill_all() {
    is_killing_ = true;
    for (const pid_t pid : alive_) {
      ::kill(pid, SIGKILL);
    }
  }

  const Options& options_;
  pid_t first_ = 0;
  pid_t leaving_ = 0;
  std::set<pid_t> alive_;
  unsigned long count_ = 0;
  bool is_killing_ = false;
  int exit_code_ = 125;
};

}  // namespace
}  // namespace modlock::test

int main(int argc, char** argv) {
  try {
    const auto options = modlock::test::parse(argc, argv);
    return modlock::test::Tracer(options).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fault_at_call: %s\n", error.what());
    return 125;
  }
}
