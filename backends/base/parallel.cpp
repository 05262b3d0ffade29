#include "backends/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace modlock {
namespace {

std::atomic<std::size_t> started_threads = 0;  // of all calls

// A thread within the budget of the process. Its share is returned when it has ended.
class BudgetedThread {
 public:
  // Returns nullopt if the budget is exhausted. Throws std::system_error if the system cannot start a thread.
  static std::optional<BudgetedThread> start(const std::function<void()>& work) {
    if (started_threads++ >= kThreadBudget) {
      --started_threads;
      return std::nullopt;
    }
    return BudgetedThread(work);
  }
  BudgetedThread(BudgetedThread&&) = default;

 private:
  struct Share {
    ~Share() { --started_threads; }
  };

  explicit BudgetedThread(const std::function<void()>& work) : share_(std::make_unique<Share>()), thread_(work) {}

  std::unique_ptr<Share> share_;
  std::jthread thread_;  // joined before the share is returned
};

}  // namespace

void parallel_for(std::size_t count, std::size_t width, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto run = [&] {
    for (std::size_t item = next++; item < count; item = next++) {
      try {
        work(item);
      } catch (...) {
        const std::lock_guard lock(mutex);
        thrown = thrown ? thrown : std::current_exception();
        next = count;
      }
    }
  };
  std::vector<BudgetedThread> helpers;
  try {
    // No thread is started for items that other threads have already taken.
    while (helpers.size() + 1 < std::min(count, width) && next + 1 < count) {
      auto helper = BudgetedThread::start(run);
      if (!helper) {
        break;  // the running threads do all the work
      }
      helpers.push_back(std::move(*helper));
    }
  } catch (const std::system_error&) {
    // The system cannot start more threads: the running ones do all the work.
  }
  run();
  helpers.clear();
  if (thrown) {
    std::rethrow_exception(thrown);
  }
}

std::size_t core_count() {
  static const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
  return count;
}

}  // namespace modlock
