#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "backends/base/descriptor.h"
#include "backends/base/process.h"
#include "plugin/cli/foreground_child.h"
#include "protocol/base/system_reason.h"

namespace modlock::cli {
namespace {

// The file actions and attributes of posix_spawn, released together.
struct ForegroundSpawn {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  ForegroundSpawn() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~ForegroundSpawn() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  ForegroundSpawn(const ForegroundSpawn&) = delete;
  ForegroundSpawn& operator=(const ForegroundSpawn&) = delete;
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) {
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

bool has_terminal() {
  return Descriptor(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)).valid();
}

Result<int> wait_for(pid_t pid, Interrupt& interrupt) {
  siginfo_t ended{};
  // The process ID stays reserved until no more signals are sent to it.
  while (::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) {
      return fail(Code::io_error, fmt::format("cannot wait for a child: {}", system_reason(errno)));
    }
  }
  interrupt.pass_to(0);
  ::waitpid(pid, nullptr, 0);
  return ended.si_code == CLD_EXITED ? ended.si_status : 128 + ended.si_status;
}

}  // namespace

Result<int> run_in_foreground(const std::vector<std::string>& argv, const std::filesystem::path& directory,
                              const std::map<std::string, std::string>& environment, Interrupt& interrupt) {
  const auto program = find_program(argv.front());
  if (!program) {
    return fail(Code::tool_missing, fmt::format("the program \"{}\" is not on PATH", argv.front()),
                fmt::format("install {}, or add its directory to PATH", argv.front()));
  }
  ForegroundSpawn plan;
  ::posix_spawn_file_actions_addchdir_np(&plan.actions, directory.c_str());
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&plan.attributes, &none);
  const bool shares_group = has_terminal();
  ::posix_spawnattr_setflags(
      &plan.attributes,
      static_cast<short>(shares_group ? POSIX_SPAWN_SETSIGMASK : POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP));
  std::vector<std::string> arguments = argv;
  std::vector<std::string> variables =
      child_environment(Command{.argv = argv, .set_environment = environment, .keeps_tokens = true});
  pid_t pid = -1;
  const int reason = ::posix_spawn(&pid, program->c_str(), &plan.actions, &plan.attributes,
                                   pointers_to(arguments).data(), pointers_to(variables).data());
  if (reason != 0) {
    return fail(Code::io_error, fmt::format("cannot run \"{}\": {}", argv.front(), system_reason(reason)));
  }
  const pid_t receiver = shares_group ? pid : -pid;
  interrupt.pass_to(receiver);
  if (const int early = interrupt.signal(); early != 0) {
    ::kill(receiver, early);
  }
  return wait_for(pid, interrupt);
}

}  // namespace modlock::cli
