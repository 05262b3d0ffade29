#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace modlock {

// What a process and all that it started use, as far as the kernel tells us; zeros where it has ended.
struct ProcessUsage {
  std::uint64_t memory = 0;       // bytes in memory, without those of mapped files
  std::uint64_t transferred = 0;  // bytes read and written
  std::chrono::milliseconds cpu{0};
};

ProcessUsage process_usage(int pid);
// How many bytes a file of this process may have, where that is limited (ulimit -f).
std::optional<std::uint64_t> file_size_limit();

// The process and all that it started, as far as the kernel tells us.
std::vector<int> process_tree(int pid);

}  // namespace modlock
