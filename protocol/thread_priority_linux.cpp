#include "protocol/thread_priority.h"

#include <sys/resource.h>
#include <unistd.h>

namespace modlock {

void lower_thread_priority() {
  constexpr int kSteps = 10;
  const auto thread = static_cast<id_t>(::gettid());  // on Linux each has a nice value of its own
  ::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + kSteps);
}

}  // namespace modlock
