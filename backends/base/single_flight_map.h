#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

// Makes each value once: the first caller makes it while the others wait. A failure is returned to all waiting callers
// and then forgotten. If the first caller was cancelled or reached its deadline, the next one tries. Thread-safe.
template <typename Key, typename Value>
class SingleFlightMap {
 public:
  using Clock = std::chrono::steady_clock;

  // A value of age `life` or more is made again.
  explicit SingleFlightMap(Clock::duration life = Clock::duration::max(),
                           std::function<Clock::time_point()> now = Clock::now)
      : life_(life), now_(std::move(now)) {}

  // `make` returns a Result<Value> and is called without the lock. Errors: those of `make`; REQUEST_CANCELLED and
  // DEADLINE_EXCEEDED while waiting.
  template <typename Make>
  Result<Value> get(const Key& key, const Context& context, const Make& make) {
    std::unique_lock lock(mutex_);
    const Clock::time_point asked_at = now_();
    Entry& entry = entries_[key];
    while (entry.is_making) {
      const std::size_t awaited = entry.attempts;
      const auto is_over = [&] { return entry.attempts != awaited; };
      if (context.deadline) {
        made_.wait_until(lock, context.stop, *context.deadline, is_over);
      } else {
        made_.wait(lock, context.stop, is_over);
      }
      MODLOCK_TRY(context.check());
      if (is_over() && entry.failure) {
        return fail(*entry.failure);
      }
    }
    if (entry.value && asked_at - entry.made_at < life_) {
      return *entry.value;
    }
    entry.is_making = true;
    lock.unlock();
    Result<Value> made = make();
    lock.lock();
    entry.is_making = false;
    ++entry.attempts;
    entry.failure.reset();
    if (made) {
      entry.value = *made;
      entry.made_at = now_();
    } else if (made.error().code != Code::request_cancelled && made.error().code != Code::deadline_exceeded) {
      entry.failure = made.error();
    }
    made_.notify_all();
    return made;
  }

  // Returns whether get() would return without waiting. Only for maps whose values do not expire.
  bool has(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    return found != entries_.end() && found->second.value && !found->second.is_making;
  }

 private:
  struct Entry {
    bool is_making = false;
    std::size_t attempts = 0;
    std::optional<Value> value;
    Clock::time_point made_at;
    std::optional<Error> failure;  // of the last attempt
  };

  const Clock::duration life_;
  const std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;
  std::condition_variable_any made_;
  std::map<Key, Entry> entries_;
};

}  // namespace modlock
