#include "backends/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <mutex>
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

BOOST_AUTO_TEST_CASE(without_width_nothing_leaves_the_thread) {
  const auto caller = std::this_thread::get_id();
  for (const Row& row : {Row{9, 1, 1}, Row{1, 9, 1}}) {
    parallel_for(row.count, row.width, [&](std::size_t) { BOOST_TEST((std::this_thread::get_id() == caller)); });
  }
}

// The only helper waits in the first item, so all that is asked for meanwhile is done by the caller.
BOOST_AUTO_TEST_CASE(the_caller_does_what_nobody_has_begun) {
  const auto caller = std::this_thread::get_id();
  std::atomic<int> stage = 0;  // 1: the helper is in the first item, 2: it may go on
  std::vector<std::thread::id> by(5);
  WorkAhead work(by.size(), 2, [&](std::size_t i) {
    by[i] = std::this_thread::get_id();
    if (i == 0) {
      stage = 1;
      stage.notify_all();
      stage.wait(1);
    }
  });
  stage.wait(0);
  BOOST_TEST((by[0] != std::thread::id() && by[0] != caller));
  for (const std::size_t item : {4U, 2U}) {
    work.finish(item);
    BOOST_TEST((by[item] == caller));
  }
  BOOST_TEST((by[1] == std::thread::id()));
  stage = 2;
  stage.notify_all();
  work.finish_all();
  BOOST_TEST(std::count(by.begin(), by.end(), std::thread::id()) == 0);
}

BOOST_AUTO_TEST_CASE(an_item_is_finished_when_it_was_done_elsewhere) {
  const auto caller = std::this_thread::get_id();
  std::atomic<int> stage = 0;  // 1: the helper is in the first item, 2: the caller asked for it
  bool done = false;
  WorkAhead work(2, 2, [&](std::size_t i) {
    if (i == 1 && std::this_thread::get_id() == caller) {
      stage = 2;  // what the caller does while it waits
      stage.notify_all();
    } else if (i == 0) {
      stage = 1;
      stage.notify_all();
      stage.wait(1);
      done = true;
    }
  });
  stage.wait(0);
  work.finish(0);
  BOOST_TEST(done);
}

BOOST_AUTO_TEST_CASE(what_nobody_has_begun_is_left_at_the_end) {
  std::atomic<int> runs = 0;
  {
    const WorkAhead work(3, 1, [&](std::size_t) { ++runs; });
  }
  BOOST_TEST(runs == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
