#include "backends/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace modlock::test {
namespace {

struct Row {
  std::size_t count;
  std::size_t width;
  std::size_t together;  // at the same time
};
constexpr Row kRows[] = {{0, 4, 0}, {1, 4, 1}, {2, 4, 2},    {3, 2, 2},    {4, 4, 4},
                         {5, 1, 1}, {5, 0, 1}, {16, 16, 16}, {40, 16, 16}, {40, 7, 7}};

}  // namespace

BOOST_AUTO_TEST_SUITE(parallel)

BOOST_AUTO_TEST_CASE(each_item_is_worked_on_once) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.count << " items, " << row.width << " wide") {
      std::vector<std::atomic<int>> times(row.count);
      parallel_for(row.count, row.width, [&](std::size_t i) { ++times[i]; });
      BOOST_TEST(std::all_of(times.begin(), times.end(), [](const auto& count) { return count == 1; }));
    }
  }
}

// Everyone waits until as many are there as the width allows.
BOOST_AUTO_TEST_CASE(as_many_at_the_same_time_as_are_allowed) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.count << " items, " << row.width << " wide") {
      std::mutex mutex;
      std::condition_variable changed;
      std::size_t here = 0;
      std::size_t most = 0;
      parallel_for(row.count, row.width, [&](std::size_t) {
        std::unique_lock lock(mutex);
        most = std::max(most, ++here);
        changed.notify_all();
        changed.wait_for(lock, std::chrono::seconds(10), [&] { return most >= row.together; });
        --here;
      });
      BOOST_TEST(most == row.together);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_thrown_reaches_the_caller_once_all_have_returned) {
  for (const Row& row : kRows) {
    if (row.count == 0) {
      continue;
    }
    BOOST_TEST_CONTEXT(row.count << " items, " << row.width << " wide") {
      std::atomic<int> here = 0;
      const auto work = [&](std::size_t) {
        ++here;
        std::this_thread::yield();
        --here;
        throw std::bad_alloc();
      };
      BOOST_CHECK_THROW(parallel_for(row.count, row.width, work), std::bad_alloc);
      BOOST_TEST(here == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(without_width_nothing_leaves_the_thread) {
  const auto caller = std::this_thread::get_id();
  for (const Row& row : {Row{9, 1, 1}, Row{1, 9, 1}}) {
    parallel_for(row.count, row.width, [&](std::size_t) { BOOST_TEST((std::this_thread::get_id() == caller)); });
  }
}

// The threads of nested calls come from one budget. The threads of the outer call wait until the budget is used up.
BOOST_AUTO_TEST_CASE(nested_calls_share_one_budget) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t here = 0;
  std::size_t most = 0;
  std::atomic<std::size_t> done = 0;
  constexpr std::size_t kOuter = 16;
  constexpr std::size_t kInner = 16;
  parallel_for(kOuter, kOuter, [&](std::size_t) {
    parallel_for(kInner, kInner, [&](std::size_t) {
      std::unique_lock lock(mutex);
      most = std::max(most, ++here);
      changed.notify_all();
      changed.wait_for(lock, std::chrono::seconds(10), [&] { return most >= kThreadBudget + 1; });
      --here;
      ++done;
    });
  });
  BOOST_TEST(most == kThreadBudget + 1);
  BOOST_TEST(done == kOuter * kInner);
}

// Afterwards the budget is whole again.
BOOST_AUTO_TEST_CASE(threads_are_given_back) {
  for (std::size_t round = 0; round < 3; ++round) {
    std::atomic<std::size_t> here = 0;
    std::atomic<std::size_t> count = 0;
    parallel_for(kThreadBudget + 40, kThreadBudget + 40, [&](std::size_t) {
      ++here;
      here.notify_all();
      for (std::size_t seen = here; seen < kThreadBudget + 1; seen = here) {
        here.wait(seen);
      }
      ++count;
    });
    BOOST_TEST(count == kThreadBudget + 40);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
