#include "protocol/rpc/thread_priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace modlock {
namespace {

// Of <linux/sched/types.h>, version 0: the C library has none.
struct SchedulingAttributes {
  std::uint32_t size = 48;
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  // From Linux 6.12 on the slice of an ordinary thread, in nanoseconds, 0 for that of the system; before, nothing.
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};
static_assert(sizeof(SchedulingAttributes) == 48);

int nice_value() {
  return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));  // on Linux each thread has its own
}

void set_slice(std::uint64_t nanoseconds) {
  if (::sched_getscheduler(0) == SCHED_OTHER) {
    const SchedulingAttributes attributes{.nice = nice_value(), .runtime = nanoseconds};
    ::syscall(SYS_sched_setattr, 0, &attributes, 0);
  }
}

}  // namespace

void lower_thread_priority() {
  constexpr int kSteps = 10;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice_value() + kSteps);
  set_slice(0);
}

void answer_quickly() {
  constexpr std::uint64_t kShortest = 100'000;
  set_slice(kShortest);
}

}  // namespace modlock
