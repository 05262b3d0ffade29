#include "backends/base/files.h"
#include "backends/base/started_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "backends/base/process.h"
#include "protocol/base/result.h"
#include "protocol/base/system_reason.h"

namespace modlock {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTimeToClean{2000};
constexpr std::chrono::milliseconds kEndPolling{20};  // if the kernel has no pidfd

struct Pipe {
  Descriptor read;
  Descriptor write;
};

tl::unexpected<Error> cannot_run(const std::string& program, int reason) {
  return fail(Code::io_error, fmt::format("cannot run \"{}\": {}", program, system_reason(reason)),
              std::string(system_advice(reason)));
}

// Above 2, so that setting up a standard stream of the child cannot replace a pipe.
Descriptor above_standard_streams(int number) {
  if (number > STDERR_FILENO) {
    return Descriptor(number);
  }
  Descriptor low(number);
  return Descriptor(::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Result<Pipe> make_pipe(const std::string& program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return cannot_run(program, errno);
  }
  Pipe pipe{above_standard_streams(ends[0]), above_standard_streams(ends[1])};
  if (!pipe.read.valid() || !pipe.write.valid()) {
    return cannot_run(program, EMFILE);
  }
  return pipe;
}

void make_non_blocking(const Descriptor& descriptor) {
  ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) {
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

// The file actions and attributes of posix_spawn, released together.
struct SpawnPlan {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
};

// The children that were not reaped.
struct Running {
  std::mutex mutex;
  std::set<pid_t> children;
  bool is_over = false;
};

Running& running() {
  static Running& now = *new Running;  // never destroyed: threads may outlive the end of main()
  return now;
}

// Returns the process id.
Result<pid_t> spawn(const Command& command, const std::filesystem::path& program, const Pipe& in, const Pipe& out,
                    const Pipe& err) {
  SpawnPlan plan;
  if (command.directory) {
    ::posix_spawn_file_actions_addchdir_np(&plan.actions, command.directory->c_str());
  }
  if (in.read.valid()) {
    ::posix_spawn_file_actions_adddup2(&plan.actions, in.read.get(), STDIN_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&plan.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  ::posix_spawn_file_actions_adddup2(&plan.actions, out.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&plan.actions, err.write.get(), STDERR_FILENO);
  // Children inherit no other descriptor of this process.
  ::posix_spawn_file_actions_addclosefrom_np(&plan.actions, STDERR_FILENO + 1);

  sigset_t all;
  sigset_t none;
  ::sigfillset(&all);
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&plan.attributes, &all);
  ::posix_spawnattr_setsigmask(&plan.attributes, &none);
  // A new session has no controlling terminal and makes the child the leader of its own group.
  ::posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

  std::vector<std::string> arguments = command.argv;
  std::vector<std::string> environment = child_environment(command);
  pid_t pid = -1;
  Running& now = running();
  const std::lock_guard lock(now.mutex);  // otherwise kill_all() could miss it
  if (now.is_over) {
    return cannot_run(command.argv[0], ECANCELED);
  }
  const int reason = ::posix_spawn(&pid, program.c_str(), &plan.actions, &plan.attributes, pointers(arguments).data(),
                                   pointers(environment).data());
  if (reason != 0) {
    return cannot_run(command.argv[0], reason);
  }
  now.children.insert(pid);
  return pid;
}

}  // namespace

Result<StartedChild> StartedChild::start(const Command& command, bool with_input) {
  if (command.argv.empty()) {
    return fail(Code::internal, "a command without a program was to be run");
  }
  const std::string& name = command.argv[0];
  const auto program = find_program(name);
  if (!program) {
    return fail(Code::tool_missing, fmt::format("the program \"{}\" is not on PATH", name),
                fmt::format("install {}, or add its directory to PATH", name));
  }
  if (command.directory && !path_is_directory(*command.directory)) {
    return fail(Code::io_error,
                fmt::format("cannot run \"{}\" in \"{}\": not a directory", name, command.directory->string()));
  }
  MODLOCK_TRY(auto out, make_pipe(name));
  MODLOCK_TRY(auto err, make_pipe(name));
  MODLOCK_TRY(auto in, with_input ? make_pipe(name) : Result<Pipe>(Pipe{}));
  MODLOCK_TRY(const auto pid, spawn(command, *program, in, out, err));
  StartedChild child;
  child.program_ = name;
  child.pid_ = pid;
  child.pidfd_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  child.in_ = std::move(in.write);
  child.out_ = std::move(out.read);
  child.err_ = std::move(err.read);
  for (const Descriptor* ours : {&child.in_, &child.out_, &child.err_}) {
    if (ours->valid()) {
      make_non_blocking(*ours);
    }
  }
  return child;
}

StartedChild::~StartedChild() {
  if (pid_ > 0) {
    (void)finish();
  }
}

StartedChild::StartedChild(StartedChild&& other) noexcept
    : program_(std::move(other.program_)),
      pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)) {}

void StartedChild::kill_all() {
  Running& now = running();
  const std::lock_guard lock(now.mutex);
  now.is_over = true;
  for (const pid_t child : now.children) {
    ::kill(-child, SIGKILL);
  }
}

void StartedChild::limit_files(std::uint64_t bytes) const {
  const rlimit most{.rlim_cur = bytes, .rlim_max = bytes};
  for (const int member : process_tree(pid_)) {
    // The user's limit may be lower.
    if (rlimit now{}; ::prlimit(member, RLIMIT_FSIZE, nullptr, &now) == 0 && now.rlim_cur > bytes) {
      ::prlimit(member, RLIMIT_FSIZE, &most, nullptr);
    }
  }
}

bool StartedChild::has_ended() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid_;
}

// Sent before the kill, so that programs such as git can remove their lock files.
void StartedChild::ask_to_end() const {
  ::kill(-pid_, SIGTERM);
  const auto until = Clock::now() + kTimeToClean;
  while (!has_ended() && Clock::now() < until) {
    pollfd exit{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    ::poll(&exit, 1, static_cast<int>((pidfd_.valid() ? kTimeToClean : kEndPolling).count()));
  }
}

Result<int> StartedChild::finish() {
  ::kill(-pid_, SIGKILL);
  {
    Running& now = running();
    const std::lock_guard lock(now.mutex);
    now.children.erase(pid_);  // once reaped, the number may belong to another process
  }
  siginfo_t info{};
  int done = 0;
  do {
    done = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED);
  } while (done != 0 && errno == EINTR);
  pid_ = -1;
  if (done != 0) {
    return cannot_run(program_, errno);
  }
  return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

}  // namespace modlock
