#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace modlock::test {

// How often a server is asked whether it is ready, every 10 ms.
constexpr int kReadyPolls = 500;

// A program and all that it starts, ended with the object.
class ProcessGroup {
 public:
  // argv[0] is a path; output goes to the end of `log`. Throws std::runtime_error where it cannot be started.
  ProcessGroup(std::vector<std::string> argv, const std::filesystem::path& log);
  ~ProcessGroup();
  ProcessGroup(ProcessGroup&& other) noexcept;
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  ProcessGroup& operator=(ProcessGroup&&) = delete;

  // Waits until `is_ready` says so. False where the program ends before, or it takes seconds.
  bool wait_until(const std::function<bool()>& is_ready);

 private:
  int leader_;  // 0: moved from, or ended
};

// Waits, yielding, until the process is gone; the time limit only keeps a failing test from hanging.
bool ends(int process);

// The path of a program on PATH or in /usr/sbin, where servers are; empty where there is none.
std::string find_server(std::string_view name);

}  // namespace modlock::test
