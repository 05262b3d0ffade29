#include "backends/parallel.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <thread>

#include "backends/helper_thread.h"

namespace modlock {

namespace {

// Threads start threads, each two: sixteen are there after four steps, and none is made for what is done before it
// would begin.
class Work {
 public:
  Work(std::size_t count, std::size_t width, const std::function<void(std::size_t)>& work)
      : count_(count), most_helpers_(std::max<std::size_t>(width, 1) - 1), work_(work) {}

  // Takes part until nothing is left; returns when all that it started have returned.
  void take_part(int most_started) {
    std::list<HelperThread> started;
    for (int i = 0; i < most_started && is_more_than_one_left() && helpers_++ < most_helpers_; ++i) {
      started.emplace_back([this] { take_part(2); });
    }
    for (std::size_t i = next_++; i < count_; i = next_++) {
      work_(i);
    }
  }

 private:
  bool is_more_than_one_left() const { return next_ + 1 < count_; }

  const std::size_t count_;
  const std::size_t most_helpers_;
  const std::function<void(std::size_t)>& work_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> helpers_{0};  // and those that were one too many
};

}  // namespace

void parallel_for(std::size_t count, std::size_t width, const std::function<void(std::size_t)>& work) {
  Work(count, width, work).take_part(1);
}

std::size_t core_count() {
  static const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
  return count;
}

}  // namespace modlock
