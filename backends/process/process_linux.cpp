#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <system_error>

#include "backends/files/descriptor.h"
#include "backends/process/environment.h"
#include "backends/process/process.h"

namespace modlock {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorOutputKept = std::size_t{64} << 10U;
constexpr std::size_t kLargestPipe = std::size_t{1} << 20U;
constexpr std::chrono::milliseconds kTimeToClean{500};
constexpr std::chrono::milliseconds kExitPolling{20};  // where the kernel has no pidfd

struct Pipe {
  Descriptor read;
  Descriptor write;
};

tl::unexpected<Error> cannot_run(const Command& command, int reason) {
  return fail(Code::io_error,
              fmt::format("cannot run \"{}\": {}", command.argv[0], std::generic_category().message(reason)));
}

// Above 2, so that no pipe can be what another of the child's standard streams is put over.
Descriptor above_standard_streams(int number) {
  if (number > STDERR_FILENO) {
    return Descriptor(number);
  }
  Descriptor low(number);
  return Descriptor(::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Result<Pipe> make_pipe(const Command& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return cannot_run(command, errno);
  }
  Pipe pipe{above_standard_streams(ends[0]), above_standard_streams(ends[1])};
  if (!pipe.read.valid() || !pipe.write.valid()) {
    return cannot_run(command, EMFILE);
  }
  return pipe;
}

void make_non_blocking(const Descriptor& descriptor) {
  ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

// Keeps SIGPIPE from this thread while it writes to a child that may be gone; what arose is taken away again.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~SigpipeBlocked() {
    if (!was_pending_) {
      const timespec at_once{};
      while (::sigtimedwait(&sigpipe_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

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

// One child from its start to its end. The destructor leaves neither the child nor its group behind.
class Child {
 public:
  explicit Child(const Command& command) : command_(command) {}
  ~Child() {
    if (pid_ > 0) {
      kill_group(SIGKILL);
      reap();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Result<void> start();
  Result<Finished> attend(const Context& context);

 private:
  Result<void> spawn(const std::filesystem::path& program, const Pipe& in, const Pipe& out, const Pipe& err);
  Result<void> wait_for_event(const Context& context, int wake);
  void feed();
  bool drain(Descriptor& from, bool is_error_output);
  bool has_ended() const;
  void stop();
  Result<int> reap();
  void kill_group(int signal) const { ::kill(-pid_, signal); }

  const Command& command_;
  pid_t pid_ = -1;
  Descriptor pidfd_;
  Descriptor in_;
  Descriptor out_;
  Descriptor err_;
  std::size_t fed_ = 0;
  Finished result_;
};

Result<void> Child::start() {
  if (command_.argv.empty()) {
    return fail(Code::internal, "a command without a program was to be run");
  }
  const auto program = find_program(command_.argv[0]);
  if (!program) {
    return fail(Code::tool_missing, fmt::format("the program \"{}\" is not on PATH", command_.argv[0]),
                fmt::format("install {}, or add its directory to PATH", command_.argv[0]));
  }
  std::error_code ignored;
  if (command_.directory && !std::filesystem::is_directory(*command_.directory, ignored)) {
    return fail(Code::io_error, fmt::format("cannot run \"{}\" in \"{}\": not a directory", command_.argv[0],
                                            command_.directory->string()));
  }
  Result<Pipe> out = make_pipe(command_);
  Result<Pipe> err = make_pipe(command_);
  Result<Pipe> in = command_.input.empty() ? Result<Pipe>(Pipe{}) : make_pipe(command_);
  for (const Result<Pipe>* pipe : {&out, &err, &in}) {
    if (!*pipe) {
      return fail(pipe->error());
    }
  }
  if (auto ok = spawn(*program, *in, *out, *err); !ok) {
    return ok;
  }
  in_ = std::move(in->write);
  out_ = std::move(out->read);
  err_ = std::move(err->read);
  for (const Descriptor* ours : {&in_, &out_, &err_}) {
    if (ours->valid()) {
      make_non_blocking(*ours);
    }
  }
  pidfd_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  return {};
}

Result<void> Child::spawn(const std::filesystem::path& program, const Pipe& in, const Pipe& out, const Pipe& err) {
  SpawnPlan plan;
  if (command_.directory) {
    ::posix_spawn_file_actions_addchdir_np(&plan.actions, command_.directory->c_str());
  }
  if (in.read.valid()) {
    ::posix_spawn_file_actions_adddup2(&plan.actions, in.read.get(), STDIN_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&plan.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  ::posix_spawn_file_actions_adddup2(&plan.actions, out.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&plan.actions, err.write.get(), STDERR_FILENO);
  // What we were started with open is not meant for our children.
  ::posix_spawn_file_actions_addclosefrom_np(&plan.actions, STDERR_FILENO + 1);

  sigset_t all;
  sigset_t none;
  ::sigfillset(&all);
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&plan.attributes, &all);
  ::posix_spawnattr_setsigmask(&plan.attributes, &none);
  // A new session has no controlling terminal, and makes the child the leader of a group of its own.
  ::posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

  std::vector<std::string> arguments = command_.argv;
  std::vector<std::string> environment = child_environment(command_);
  const int reason = ::posix_spawn(&pid_, program.c_str(), &plan.actions, &plan.attributes, pointers(arguments).data(),
                                   pointers(environment).data());
  if (reason != 0) {
    pid_ = -1;
    return cannot_run(command_, reason);
  }
  return {};
}

// A child that has ended is left unreaped until its group is killed, so that the number cannot name anybody else.
bool Child::has_ended() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid_;
}

Result<int> Child::reap() {
  siginfo_t info{};
  int done = 0;
  do {
    done = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED);
  } while (done != 0 && errno == EINTR);
  pid_ = -1;
  if (done != 0) {
    return cannot_run(command_, errno);
  }
  return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

// First asked, so that programs such as git remove their lock files; then ended.
void Child::stop() {
  kill_group(SIGTERM);
  const auto until = Clock::now() + kTimeToClean;
  while (!has_ended() && Clock::now() < until) {
    pollfd exit{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    ::poll(&exit, 1, static_cast<int>((pidfd_.valid() ? kTimeToClean : kExitPolling).count()));
  }
}

void Child::feed() {
  const SigpipeBlocked guard;
  while (fed_ < command_.input.size()) {
    const ssize_t put = ::write(in_.get(), command_.input.data() + fed_, command_.input.size() - fed_);
    if (put >= 0) {
      fed_ += static_cast<std::size_t>(put);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      break;  // The child does not want the rest: its exit code tells.
    }
  }
  in_.reset();
}

// Takes what is there, at most what a pipe can hold, so that an endless writer does not keep us from the deadline.
// False where stdout is longer than allowed.
bool Child::drain(Descriptor& from, bool is_error_output) {
  std::array<char, std::size_t{64} << 10U> piece;
  for (std::size_t taken = 0; from.valid() && taken < kLargestPipe;) {
    const ssize_t got = ::read(from.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && errno == EAGAIN) {
      return true;
    }
    if (got <= 0) {
      from.reset();
      return true;
    }
    std::string& to = is_error_output ? result_.error_output : result_.output;
    const auto size = static_cast<std::size_t>(got);
    taken += size;
    if (!is_error_output && size > command_.output_limit - to.size()) {
      return false;
    }
    to.append(piece.data(), size);
    if (is_error_output && to.size() > kErrorOutputKept) {
      to.erase(0, to.size() - kErrorOutputKept);
    }
  }
  return true;
}

// Returns once a stream is ready, the child has ended or the run should end; the last is the error.
Result<void> Child::wait_for_event(const Context& context, int wake) {
  if (auto ok = context.check(); !ok) {
    return fail(with_note(ok.error(), fmt::format("while running {}", command_.argv[0])));
  }
  std::array<pollfd, 5> watched{{{wake, POLLIN, 0},
                                 {pidfd_.get(), POLLIN, 0},
                                 {out_.get(), POLLIN, 0},
                                 {err_.get(), POLLIN, 0},
                                 {in_.get(), POLLOUT, 0}}};
  std::chrono::milliseconds timeout{-1};
  if (context.deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*context.deadline - Clock::now());
    timeout = std::clamp(left, std::chrono::milliseconds{0}, std::chrono::milliseconds{std::chrono::hours{1}});
  }
  if (!pidfd_.valid()) {
    timeout = timeout.count() < 0 ? kExitPolling : std::min(timeout, kExitPolling);
  }
  ::poll(watched.data(), watched.size(), static_cast<int>(timeout.count()));
  return {};
}

Result<Finished> Child::attend(const Context& context) {
  const Descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) {
    return cannot_run(command_, errno);
  }
  const std::stop_callback on_stop(context.stop, [&wake] { ::eventfd_write(wake.get(), 1); });
  for (;;) {
    // Asked before the streams are emptied: what an ended child wrote is then in the pipes already.
    const bool ended = has_ended();
    if (in_.valid()) {
      feed();
    }
    if (!drain(out_, false)) {
      stop();
      return fail(Code::limit_exceeded, fmt::format("\"{}\" printed more than the {} bytes that are read of it",
                                                    command_.argv[0], command_.output_limit));
    }
    drain(err_, true);
    if (ended) {
      break;
    }
    if (auto ok = wait_for_event(context, wake.get()); !ok) {
      stop();
      return fail(ok.error());
    }
  }
  kill_group(SIGKILL);
  return reap().map([this](int exit_code) {
    result_.exit_code = exit_code;
    return std::move(result_);
  });
}

}  // namespace

Result<Finished> run_command(const Command& command, const Context& context) {
  if (auto ok = context.check(); !ok) {
    return fail(with_note(ok.error(), fmt::format("while running {}", command.argv.empty() ? "" : command.argv[0])));
  }
  Child child(command);
  if (auto ok = child.start(); !ok) {
    return fail(ok.error());
  }
  return child.attend(context);
}

}  // namespace modlock
