#include "protocol/rpc/thread_priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <thread>

namespace modlock::test {
namespace {

// What the system says of a thread.
struct Scheduled {
  int nice = 0;
  std::uint64_t slice = 0;  // in nanoseconds; 0 from a system that has one for all
};

Scheduled scheduled() {
  std::array<std::uint64_t, 6> attributes = {};  // the fourth is the slice
  ::syscall(SYS_sched_getattr, 0, attributes.data(), sizeof attributes, 0);
  return {::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())), attributes[3]};
}

// In a thread of its own.
template <typename Change>
Scheduled after(const Change& change) {
  Scheduled result;
  std::thread([&] {
    change();
    result = scheduled();
  }).join();
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(thread_priority)

BOOST_AUTO_TEST_CASE(a_lowered_thread_counts_for_less_and_those_it_starts_too) {
  const Scheduled before = scheduled();
  BOOST_TEST(after(lower_thread_priority).nice == before.nice + 10);
  Scheduled started;
  after([&] {
    lower_thread_priority();
    started = after([] {});
  });
  BOOST_TEST(started.nice == before.nice + 10);
  BOOST_TEST(scheduled().nice == before.nice);
}

BOOST_AUTO_TEST_CASE(a_quick_thread_has_short_turns_and_a_lowered_one_of_its_own_has_not) {
  const Scheduled before = scheduled();
  const Scheduled quick = after(answer_quickly);
  BOOST_TEST(quick.nice == before.nice);
  BOOST_TEST(quick.slice == (before.slice == 0 ? 0U : 100'000U));
  Scheduled worker;
  after([&] {
    answer_quickly();
    worker = after(lower_thread_priority);
  });
  BOOST_TEST(worker.nice == before.nice + 10);
  BOOST_TEST(worker.slice == before.slice);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
