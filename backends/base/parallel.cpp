#include "backends/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

namespace modlock {
namespace {

std::atomic<std::size_t> started_threads = 0;  // of all calls

// A thread within the budget of the process.
struct Helper {
  struct Share {
    const bool is_within_budget = started_threads++ < kThreadBudget;
    ~Share() { --started_threads; }
  } share = {};
  std::jthread thread = {};  // joined before the share is returned
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
  std::list<Helper> helpers;
  try {
    // No thread is started for items that other threads have already taken.
    while (helpers.size() + 1 < std::min(count, width) && next + 1 < count) {
      if (!helpers.emplace_back().share.is_within_budget) {
        helpers.pop_back();
        break;  // the running threads do all the work
      }
      helpers.back().thread = std::jthread(run);
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
