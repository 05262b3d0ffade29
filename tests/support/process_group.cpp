#include "tests/support/process_group.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "backends/base/files.h"
#include "backends/base/process.h"

namespace modlock::test {

ProcessGroup::ProcessGroup(std::vector<std::string> argv, const std::filesystem::path& log) : leader_(0) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (std::string& argument : argv) {
    arguments.push_back(argument.data());
  }
  arguments.push_back(nullptr);
  const int failed = ::posix_spawn(&leader_, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    throw std::runtime_error("cannot start " + argv[0]);
  }
}

ProcessGroup::ProcessGroup(ProcessGroup&& other) noexcept : leader_(std::exchange(other.leader_, 0)) {}

ProcessGroup::~ProcessGroup() {
  if (leader_ == 0) {
    return;
  }
  // A program may leave children where only the parent is told; as orphans they become ours, and are waited for.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::kill(-leader_, SIGKILL);
  while (::waitpid(-leader_, nullptr, 0) > 0) {
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

bool ProcessGroup::wait_until(const std::function<bool()>& is_ready) {
  for (int poll = 0; poll < kReadyPolls; ++poll) {
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(leader_), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid != 0) {
      return false;
    }
    if (is_ready()) {
      return true;
    }
    ::poll(nullptr, 0, 10);
  }
  return false;
}

bool ends(int process) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (::kill(process, 0) == 0) {
    // The process can end while its state is read.
    const auto state = read_file("/proc/" + std::to_string(process) + "/stat");
    if (state && state->find(") Z ") != std::string::npos) {
      return true;  // dead, and only not yet collected by the init process
    }
    if (std::chrono::steady_clock::now() > limit) {
      return false;
    }
    std::this_thread::yield();
  }
  return errno == ESRCH;
}

std::string find_server(std::string_view name) {
  for (const std::string& path : {std::string(name), "/usr/sbin/" + std::string(name)}) {
    if (const auto found = find_program(path)) {
      return found->string();
    }
  }
  return {};
}

}  // namespace modlock::test
