#include "protocol/rpc/worker_pool.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <latch>
#include <memory>

namespace modlock {
namespace {

Job job(std::string key, std::function<void()> run, std::size_t bytes = 1) {
  return {.key = std::move(key), .bytes = bytes, .run = std::move(run)};
}

BOOST_AUTO_TEST_SUITE(worker_pool_test)

BOOST_AUTO_TEST_CASE(jobs_run_at_once) {
  // Each of the four needs the other three to run.
  std::latch meeting(4);
  std::latch done(4);
  WorkerPool pool({.workers = 4, .queue = 0});
  for (int i = 0; i < 4; ++i) {
    BOOST_TEST(pool.submit(job("j", [&] {
      meeting.arrive_and_wait();
      done.count_down();
    })));
  }
  done.wait();
}

BOOST_AUTO_TEST_CASE(whoever_submits_goes_first) {
  const auto priority = [] { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())); };
  constexpr int kLowest = 19;
  const int own = priority();
  int of_worker = -100;
  std::latch done(1);
  WorkerPool pool({.workers = 1});
  pool.submit(job("a", [&] { of_worker = priority(), done.count_down(); }));
  done.wait();
  BOOST_TEST(of_worker == std::min(own + 10, kLowest));
  BOOST_TEST(priority() == own);
}

BOOST_AUTO_TEST_CASE(the_queue_is_bounded_and_in_order) {
  std::latch started(1);
  std::latch release(1);
  std::latch done(3);
  std::string order;
  WorkerPool pool({.workers = 1, .queue = 2});
  BOOST_TEST(pool.submit(job("a", [&] {
    started.count_down();
    release.wait();
    order += 'a';
    done.count_down();
  })));
  started.wait();
  BOOST_TEST(pool.submit(job("b", [&] { order += 'b', done.count_down(); })));
  BOOST_TEST(pool.submit(job("c", [&] { order += 'c', done.count_down(); })));
  BOOST_TEST(!pool.submit(job("d", [] {})));
  release.count_down();
  done.wait();
  BOOST_TEST(order == "abc");
}

BOOST_AUTO_TEST_CASE(the_bytes_of_the_queue_are_bounded) {
  std::latch started(1);
  std::latch release(1);
  WorkerPool pool({.workers = 1, .queue = 9, .queue_bytes = 100});
  pool.submit(job("a", [&] { started.count_down(), release.wait(); }));
  started.wait();
  BOOST_TEST(pool.submit(job(
      "b", [] {}, 500)));  // alone it may be large
  BOOST_TEST(!pool.submit(job(
      "c", [] {}, 1)));
  BOOST_TEST(pool.take("b").has_value());
  BOOST_TEST(pool.submit(job(
      "c", [] {}, 60)));
  BOOST_TEST(pool.submit(job(
      "d", [] {}, 40)));
  BOOST_TEST(!pool.submit(job(
      "e", [] {}, 1)));
  release.count_down();
}

BOOST_AUTO_TEST_CASE(what_waits_can_be_taken_back) {
  std::latch started(1);
  std::latch release(1);
  WorkerPool pool({.workers = 1});
  pool.submit(job("a", [&] { started.count_down(), release.wait(); }));
  started.wait();
  std::atomic<bool> ran = false;
  pool.submit(job("b", [&] { ran = true; }));
  BOOST_TEST(!pool.take("a"));
  BOOST_TEST(!pool.take("x"));
  const auto taken = pool.take("b");
  BOOST_REQUIRE(taken);
  BOOST_TEST(taken->key == "b");
  BOOST_TEST(!pool.take("b"));
  BOOST_TEST(!ran);
  release.count_down();
}

BOOST_AUTO_TEST_CASE(what_waits_at_the_end_is_dropped) {
  std::latch started(1);
  std::latch release(1);
  const auto held = std::make_shared<std::latch>(1);
  std::weak_ptr<std::latch> watched = held;
  {
    WorkerPool pool({.workers = 1});
    pool.submit(job("a", [&] { started.count_down(), release.wait(); }));
    started.wait();
    pool.submit(job("b", [held] { held->count_down(); }));
    release.count_down();
  }
  BOOST_TEST((held->try_wait() || watched.use_count() == 1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
