#include "backends/base/helper_thread.h"

#include <pthread.h>
#include <sched.h>

#include <utility>

namespace modlock {

struct HelperThread::Started {
  std::function<void()> work;
  cpu_set_t allowed = {};  // processors of the maker; empty: as the system has it
  pthread_t thread = {};
};

namespace {

// Leaves `attributes` as they are where there is no other processor, or more than a cpu_set_t holds.
cpu_set_t start_elsewhere(pthread_attr_t& attributes) {
  cpu_set_t allowed = {};
  const int here = ::sched_getcpu();
  if (here < 0 || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
    return {};
  }
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<std::size_t>(here), &others);
  return ::pthread_attr_setaffinity_np(&attributes, sizeof others, &others) == 0 ? allowed : cpu_set_t{};
}

}  // namespace

HelperThread::HelperThread(std::function<void()> work) : started_(std::make_unique<Started>()) {
  started_->work = std::move(work);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  started_->allowed = start_elsewhere(attributes);
  const auto run = [](void* argument) -> void* {
    const auto& started = *static_cast<const Started*>(argument);
    if (CPU_COUNT(&started.allowed) > 0) {
      ::sched_setaffinity(0, sizeof started.allowed, &started.allowed);
    }
    started.work();
    return nullptr;
  };
  // Processors may have been taken away meanwhile.
  if (::pthread_create(&started_->thread, &attributes, run, started_.get()) != 0 &&
      ::pthread_create(&started_->thread, nullptr, run, started_.get()) != 0) {
    started_.reset();
  }
  ::pthread_attr_destroy(&attributes);
}

HelperThread::~HelperThread() {
  if (started_) {
    ::pthread_join(started_->thread, nullptr);
  }
}

}  // namespace modlock
