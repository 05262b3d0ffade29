#include "backends/base/files.h"
#include "backends/base/started_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

// The children that were not reaped.
struct Running {
  std::mutex mutex;
  std::set<pid_t> children;
  bool is_over = false;
  Descriptor guardian;  // reads the groups that start, and those that end with a minus sign

  // Failure is ignored: without a guardian, children outlive this process if it is killed.
  void tell_guardian(pid_t group) const {
    [[maybe_unused]] const ssize_t written = ::write(guardian.get(), &group, sizeof group);
  }
};

Running& running() {
  static Running& now = *new Running;  // never destroyed: threads may outlive the end of main()
  return now;
}

// What a child needs to become the program.
struct Start {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const char* directory;  // null: that of this process
  int in;                 // -1: /dev/null
  int out;
  int err;
};

// Runs in the child, which shares the memory of this process until it is the program: only system calls. Returns an
// errno.
int become_program(const Start& start, const Running& now) {
  ::setsid();                     // no controlling terminal, and a group of its own
  now.tell_guardian(::getpid());  // the pipe does not end before, even if this process is killed now
  const int in = start.in >= 0 ? start.in : ::open("/dev/null", O_RDONLY);
  if (in < 0 || ::dup2(in, STDIN_FILENO) < 0 || ::dup2(start.out, STDOUT_FILENO) < 0 ||
      ::dup2(start.err, STDERR_FILENO) < 0 || (start.directory != nullptr && ::chdir(start.directory) != 0)) {
    return errno;
  }
  ::closefrom(STDERR_FILENO + 1);  // children inherit no other descriptor of this process
  for (int number = 1; number < NSIG; ++number) {
    ::signal(number, SIG_IGN);  // forgets a pending one, such as SIGPIPE if the guardian has ended
    ::signal(number, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(start.program, start.arguments, start.environment);
  return errno;
}

// Returns the process id. posix_spawn() could not tell the guardian before the program runs.
Result<pid_t> spawn(const Command& command, const Start& start) {
  Running& now = running();
  const std::lock_guard lock(now.mutex);  // otherwise kill_all() could miss it
  // Shared even under ThreadSanitizer, for which vfork() is fork().
  static void* const shared = ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (now.is_over || shared == MAP_FAILED) {
    return cannot_run(command.argv[0], now.is_over ? ECANCELED : ENOMEM);
  }
  volatile int& reason = *static_cast<int*>(shared);
  reason = 0;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler runs in the shared memory
  const pid_t pid = ::vfork();
  if (pid == 0) {
    reason = become_program(start, now);
    ::_exit(1);
  }
  const int failure = pid < 0 ? errno : reason;
  if (pid > 0 && failure != 0) {
    now.tell_guardian(-pid);
    ::waitpid(pid, nullptr, 0);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failure != 0) {
    return cannot_run(command.argv[0], failure);
  }
  now.children.insert(pid);
  return pid;
}

// Kills the groups that are left when the writer of the pipe is gone.
[[noreturn]] void guard_groups(int pipe) {
  ::setsid();  // no signal to the group or the terminal of the writer ends it
  ::prctl(PR_SET_NAME, "modlock-guard");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::dup2(pipe, STDIN_FILENO);
  ::closefrom(STDIN_FILENO + 1);  // otherwise readers of our streams would not see their end
  std::set<pid_t> groups;
  for (pid_t group = 0; ::read(STDIN_FILENO, &group, sizeof group) == sizeof group;) {
    group > 0 ? (void)groups.insert(group) : (void)groups.erase(-group);
  }
  for (const pid_t group : groups) {
    ::kill(-group, SIGKILL);
  }
  ::_exit(0);
}

}  // namespace

tl::unexpected<Error> cannot_run(const std::string& program, int reason) {
  return fail(Code::io_error, fmt::format("cannot run \"{}\": {}", program, system_reason(reason)),
              std::string(system_advice(reason)));
}

Result<StartedChild> StartedChild::start(const Command& command, bool with_input, const ChildLimits& limits) {
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
  std::vector<std::string> arguments = command.argv;
  std::vector<std::string> environment = child_environment(command);
  MODLOCK_TRY(const auto pid, spawn(command, {.program = program->c_str(),
                                              .arguments = pointers(arguments).data(),
                                              .environment = pointers(environment).data(),
                                              .directory = command.directory ? command.directory->c_str() : nullptr,
                                              .in = in.read.get(),
                                              .out = out.write.get(),
                                              .err = err.write.get()}));
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
  child.limit_files(limits.file_size);
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
      measured_(other.measured_),
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

std::optional<ProcessUsage> StartedChild::measure(const ChildLimits& limits) {
  const auto now = Clock::now();
  if (now - measured_ < std::min(kUsagePolling, limits.idle)) {
    return std::nullopt;
  }
  measured_ = now;
  limit_files(limits.file_size);  // also of descendants that started before they could inherit it
  return process_usage(pid_);
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
    now.tell_guardian(-pid_);
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

ChildGuardian::ChildGuardian() {
  auto pipe = make_pipe("");
  pid_ = pipe ? ::fork() : -1;
  if (pid_ == 0) {
    guard_groups(pipe->read.get());
  }
  if (pid_ > 0) {
    make_non_blocking(pipe->write);  // a stopped guardian does not stop this process
    running().guardian = std::move(pipe->write);
  }
}

ChildGuardian::~ChildGuardian() {
  running().guardian.reset();
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

}  // namespace modlock
