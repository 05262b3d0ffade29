#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <system_error>

#include "backends/base/descriptor.h"
#include "backends/base/files.h"
#include "backends/base/process.h"
#include "backends/base/started_child.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

// If there are more, the others are not measured.
constexpr std::size_t kMostProcesses = 1000;

std::vector<std::uint64_t> numbers_of(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    std::uint64_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    numbers.push_back(number);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return numbers;
}

// Parses "rchar: 1\nwchar: 2\n…"; 0 if access is denied.
std::uint64_t transferred_by(const std::string& process) {
  const auto words = numbers_of(read_file(process + "/io").value_or(""));
  constexpr std::size_t kRead = 1;
  constexpr std::size_t kWritten = 3;
  return words.size() > kWritten ? words[kRead] + words[kWritten] : 0;
}

std::chrono::milliseconds cpu_of(const std::string& process) {
  const std::string stat = read_file(process + "/stat").value_or("");
  // A program's name may contain any characters.
  const std::size_t name_end = stat.rfind(") ");
  const auto words =
      name_end == std::string::npos ? std::vector<std::uint64_t>() : numbers_of(stat.substr(name_end + 2));
  constexpr std::size_t kUser = 11;
  constexpr std::size_t kSystem = 12;
  const auto ticks = static_cast<std::uint64_t>(std::max(::sysconf(_SC_CLK_TCK), 1L));
  return std::chrono::milliseconds(words.size() > kSystem ? (words[kUser] + words[kSystem]) * 1000 / ticks : 0);
}

std::uint64_t memory_of(const std::string& process) {
  const auto pages = numbers_of(read_file(process + "/statm").value_or(""));
  constexpr std::size_t kResident = 1;
  constexpr std::size_t kShared = 2;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return pages.size() > kShared && pages[kResident] > pages[kShared] ? (pages[kResident] - pages[kShared]) * page : 0;
}

void add_children(const std::string& process, std::vector<int>& pids) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(process + "/task", error), end; !error && at != end;
       at.increment(error)) {
    const auto children = numbers_of(read_file(at->path() / "children").value_or(""));
    for (const std::uint64_t child : children) {
      pids.push_back(static_cast<int>(child));
    }
  }
}

bool is_unset(std::string_view name, const Command& command) {
  return std::ranges::any_of(command.unset_environment, [name](std::string_view rule) {
    if (!rule.empty() && rule.back() == '*') {
      rule.remove_suffix(1);
      return name.substr(0, rule.size()) == rule;
    }
    return name == rule;
  });
}

bool is_program(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorOutputKept = std::size_t{64} << 10U;
constexpr std::size_t kLargestPipe = std::size_t{1} << 20U;
constexpr std::chrono::milliseconds kExitPolling{20};  // if the kernel has no pidfd
// CPU time that counts as progress. A waiting process also uses a little.
constexpr std::chrono::milliseconds kWork{100};

std::string seconds_text(std::chrono::milliseconds time) {
  return fmt::format("{} s", std::chrono::ceil<std::chrono::seconds>(time).count());
}

// The input and output of one child until it ends.
class Run {
 public:
  Run(const Command& command, StartedChild child) : command_(command), child_(std::move(child)) {}

  Result<Finished> attend(const Context& context) {
    const Descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake.valid()) {
      return cannot_run(command_.argv[0], errno);
    }
    const std::stop_callback on_stop(context.stop, [&wake] { ::eventfd_write(wake.get(), 1); });
    for (;;) {
      // Checked before the streams are drained: all output of an ended child is then already in the pipes.
      const bool ended = child_.has_ended();
      if (child_.in().valid()) {
        feed();
      }
      if (!drain(child_.out(), false)) {
        child_.ask_to_end();
        return fail(Code::limit_exceeded, fmt::format("\"{}\" printed more than the {} bytes that are read of it",
                                                      command_.argv[0], command_.output_limit));
      }
      drain(child_.err(), true);
      if (ended) {
        break;
      }
      if (auto ok = check_usage(context.children); !ok) {
        if (ok.error().code != Code::limit_exceeded) {
          child_.ask_to_end();
        }
        return fail(ok.error());
      }
      if (auto ok = wait_for_event(context, wake.get()); !ok) {
        child_.ask_to_end();
        return fail(ok.error());
      }
    }
    return child_.finish().map([this](int exit_code) {
      result_.exit_code = exit_code;
      return std::move(result_);
    });
  }

 private:
  // Returns when a stream is ready, the child has ended, or a polling interval has passed. Errors: REQUEST_CANCELLED,
  // DEADLINE_EXCEEDED.
  Result<void> wait_for_event(const Context& context, int wake) {
    MODLOCK_TRY(context.check().map_error(noting(fmt::format("while running {}", command_.argv[0]))));
    std::array<pollfd, 5> watched{{{wake, POLLIN, 0},
                                   {child_.end_event(), POLLIN, 0},
                                   {child_.out().get(), POLLIN, 0},
                                   {child_.err().get(), POLLIN, 0},
                                   {child_.in().get(), POLLOUT, 0}}};
    std::chrono::milliseconds timeout = kUsagePolling;
    if (context.deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*context.deadline - Clock::now());
      timeout = std::clamp(left, std::chrono::milliseconds{0}, timeout);
    }
    if (child_.end_event() < 0) {
      timeout = kExitPolling;
    }
    ::poll(watched.data(), watched.size(), static_cast<int>(timeout.count()));
    return {};
  }

  Result<void> check_usage(const ChildLimits& limits) {
    const auto now = Clock::now();
    if (now - started_ >= limits.total) {
      return fail(Code::timeout,
                  fmt::format("\"{}\" was not done after {}", command_.argv[0], seconds_text(limits.total)),
                  "check the connection to the server, then try again");
    }
    const auto usage = child_.measure(limits);
    if (!usage) {
      return {};
    }
    if (usage->memory > limits.memory) {
      return fail(Code::limit_exceeded,
                  fmt::format("\"{}\" used more than the {} MiB of memory that a program may use here",
                              command_.argv[0], limits.memory >> 20U),
                  fmt::format("if you trust the source, set child_memory = \"{}MiB\" in your own settings "
                              "(~/.config/tofu-modlock/config.hcl)",
                              limits.memory >> 18U));
    }
    // The usage of ended processes is no longer included, so the sum may shrink.
    if (usage->transferred != usage_.transferred || usage->cpu < usage_.cpu || usage->cpu - usage_.cpu >= kWork) {
      usage_ = *usage;
      progressed_ = now;
    }
    if (now - progressed_ >= limits.idle) {
      return fail(Code::timeout, fmt::format("\"{}\" did nothing for {}", command_.argv[0], seconds_text(limits.idle)),
                  "check the connection to the server, then try again");
    }
    return {};
  }

  void feed() {
    const PipeSignalBlocked guard;
    while (fed_ < command_.input.size()) {
      const ssize_t put = ::write(child_.in().get(), command_.input.data() + fed_, command_.input.size() - fed_);
      if (put >= 0) {
        fed_ += static_cast<std::size_t>(put);
      } else if (errno == EAGAIN) {
        return;
      } else if (errno != EINTR) {
        break;  // The child does not read the rest; its exit code shows whether it failed.
      }
    }
    child_.in().reset();
  }

  // Reads the available bytes, at most the capacity of a pipe, so that an endless writer cannot delay the deadline.
  // Returns false if stdout is longer than allowed.
  bool drain(Descriptor& from, bool is_error_output) {
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
      progressed_ = Clock::now();
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

  const Command& command_;
  StartedChild child_;
  std::size_t fed_ = 0;
  Finished result_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point progressed_ = started_;
  ProcessUsage usage_;  // at the last progress
};

}  // namespace

std::vector<std::string> child_environment(const Command& command) {
  std::vector<std::string> environment;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view variable = *at;
    const std::string name(variable.substr(0, variable.find('=')));
    const bool is_kept = command.keeps_tokens || !name.starts_with("TF_TOKEN_");
    if (is_kept && !command.set_environment.contains(name) && !is_unset(name, command)) {
      environment.emplace_back(variable);
    }
  }
  for (const auto& [name, value] : command.set_environment) {
    environment.push_back(name + "=" + value);
  }
  return environment;
}

std::optional<std::filesystem::path> find_program(std::string_view name) {
  std::error_code ignored;
  if (name.find('/') != std::string_view::npos) {
    // Absolute, because the child may start in another directory.
    const std::filesystem::path path = std::filesystem::absolute(name, ignored);
    return is_program(path) ? std::optional(path) : std::nullopt;
  }
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (!name.empty() && !rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::filesystem::path directory(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
    // With a relative entry, the current directory would select the program.
    if (directory.is_absolute() && is_program(directory / name)) {
      return directory / name;
    }
  }
  return std::nullopt;
}

Result<Finished> run_command(const Command& command, const Context& context) {
  MODLOCK_TRY(
      context.check().map_error(noting(fmt::format("while running {}", command.argv.empty() ? "" : command.argv[0]))));
  MODLOCK_TRY(auto child, StartedChild::start(command, !command.input.empty(), context.children));
  return Run(command, std::move(child)).attend(context);
}

std::vector<int> process_tree(int pid) {
  std::vector<int> pids = {pid};
  for (std::size_t i = 0; i < pids.size() && pids.size() < kMostProcesses; ++i) {
    add_children(fmt::format("/proc/{}", pids[i]), pids);
  }
  return pids;
}

ProcessUsage process_usage(int pid) {
  ProcessUsage usage;
  for (const int member : process_tree(pid)) {
    const std::string process = fmt::format("/proc/{}", member);
    usage.memory += memory_of(process);
    usage.transferred += transferred_by(process);
    usage.cpu += cpu_of(process);
  }
  return usage;
}

std::optional<std::uint64_t> file_size_limit() {
  rlimit now{};
  const bool is_limited = ::getrlimit(RLIMIT_FSIZE, &now) == 0 && now.rlim_cur != RLIM_INFINITY;
  return is_limited ? std::optional<std::uint64_t>(now.rlim_cur) : std::nullopt;
}

struct PipeSignalBlocked::State {
  sigset_t sigpipe{};
  sigset_t before{};
  bool was_pending = false;
};

PipeSignalBlocked::PipeSignalBlocked() : state_(std::make_unique<State>()) {
  ::sigemptyset(&state_->sigpipe);
  ::sigaddset(&state_->sigpipe, SIGPIPE);
  sigset_t pending;
  ::sigpending(&pending);
  state_->was_pending = ::sigismember(&pending, SIGPIPE) == 1;
  ::pthread_sigmask(SIG_BLOCK, &state_->sigpipe, &state_->before);
}

PipeSignalBlocked::~PipeSignalBlocked() {
  if (!state_->was_pending) {
    const timespec at_once{};
    while (::sigtimedwait(&state_->sigpipe, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
}

}  // namespace modlock
