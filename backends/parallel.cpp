#include "backends/parallel.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <thread>

#include "backends/helper_thread.h"

namespace modlock {

void parallel_for(std::size_t count, std::size_t width, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      work(i);
    }
  };
  std::list<HelperThread> helpers;
  for (std::size_t i = 1; i < std::min(count, width); ++i) {
    helpers.emplace_back(run);
  }
  run();
}

std::size_t core_count() {
  static const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
  return count;
}

}  // namespace modlock
