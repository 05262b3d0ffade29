#include "backends/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace modlock {

void parallel_for(std::size_t count, std::size_t width, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t item = next++; item < count; item = next++) {
      work(item);
    }
  };
  std::vector<std::jthread> helpers;
  try {
    // No thread is made for items that the others have begun before it would.
    while (helpers.size() + 1 < std::min(count, width) && next + 1 < count) {
      helpers.emplace_back(run);
    }
  } catch (const std::system_error&) {
    // The system gives no more threads: those that run do all of it.
  }
  run();
}

std::size_t core_count() {
  static const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
  return count;
}

}  // namespace modlock
