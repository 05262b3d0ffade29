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
#include "protocol/base/system_reason.h"

namespace modlock {

// Makes each value once: the first caller makes it while the others wait. A failure is returned to all waiting callers
// and then forgotten after a while. If it concerns only the first caller (it was cancelled, reached its deadline, is
// offline, or has a broken configuration), the next one tries. Thread-safe.
template <typename Key, typename Value>
class SingleFlightMap {
 public:
  using Clock = std::chrono::steady_clock;

  // A value of age `life` or more is made again; a failure is also returned to callers within `failure_life`.
  explicit SingleFlightMap(Clock::duration life = Clock::duration::max(),
                           std::function<Clock::time_point()> now = Clock::now,
                           Clock::duration failure_life = Clock::duration::zero())
      : life_(life), failure_life_(failure_life), now_(std::move(now)) {}

  // `make` returns a Result<Value> and is called without the lock. Errors: those of `make`, also if it throws
  // (unexpected_error()); REQUEST_CANCELLED and DEADLINE_EXCEEDED while waiting.
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
    if (entry.failure && asked_at - entry.failed_at < failure_life_) {
      return fail(*entry.failure);
    }
    entry.is_making = true;
    lock.unlock();
    Result<Value> made = without_exceptions("a request", make);
    lock.lock();
    entry.is_making = false;
    ++entry.attempts;
    entry.failure.reset();
    if (made) {
      entry.value = *made;
      entry.made_at = now_();
    } else if (const Code code = made.error().code; code != Code::request_cancelled &&
                                                    code != Code::deadline_exceeded && code != Code::offline_miss &&
                                                    code != Code::config_parse) {
      entry.failure = made.error();
      entry.failed_at = now_();
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
    Clock::time_point failed_at;
  };

  const Clock::duration life_;
  const Clock::duration failure_life_;
  const std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;
  std::condition_variable_any made_;
  std::map<Key, Entry> entries_;
};

}  // namespace modlock
