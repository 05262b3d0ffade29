#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace modlock::test {

inline void wait_for_stop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait(lock, stop, [] { return false; });
}

}  // namespace modlock::test
