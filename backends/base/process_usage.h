#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace modlock {

// The resources that a process and its descendants use, as far as the kernel reports them; zeros if it has ended.
struct ProcessUsage {
  std::uint64_t memory = 0;       // resident bytes, without mapped files
  std::uint64_t transferred = 0;  // bytes read and written
  std::chrono::milliseconds cpu{0};
};

ProcessUsage process_usage(int pid);
// Returns the largest size of a file that this process may write (ulimit -f); nullopt if it is not limited.
std::optional<std::uint64_t> file_size_limit();

// Returns the process and its descendants, as far as the kernel reports them.
std::vector<int> process_tree(int pid);

}  // namespace modlock
