#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "backends/context.h"
#include "protocol/result.h"

namespace modlock {

// Answers that are fetched once per key, by whoever asks first; others wait for it, each as long as its own context
// lets it. What ended because that one asker had enough (cancelled, out of time) is forgotten. Thread-safe.
template <typename T>
class Answers {
 public:
  // Errors: those of `fetch`; REQUEST_CANCELLED and DEADLINE_EXCEEDED of the context.
  Result<T> get(const std::string& key, const Context& context, const std::function<Result<T>()>& fetch) {
    std::unique_lock lock(mutex_);
    while (true) {
      if (auto ok = context.check(); !ok) {
        return fail(std::move(ok.error()));
      }
      const auto [entry, is_new] = answers_.try_emplace(key);
      if (entry->second) {
        return *entry->second;
      }
      if (is_new) {
        break;
      }
      wait(lock, context);
    }
    lock.unlock();
    Result<T> answer = fetch();
    lock.lock();
    const bool is_ours_alone =
        !answer && (answer.error().code == Code::request_cancelled || answer.error().code == Code::deadline_exceeded);
    if (is_ours_alone) {
      answers_.erase(key);
    } else {
      answers_[key] = answer;
    }
    ++generation_;
    arrived_.notify_all();
    return answer;
  }

 private:
  void wait(std::unique_lock<std::mutex>& lock, const Context& context) {
    const auto before = generation_;
    const auto changed = [this, before] { return generation_ != before; };
    if (context.deadline) {
      arrived_.wait_until(lock, context.stop, *context.deadline, changed);
    } else {
      arrived_.wait(lock, context.stop, changed);
    }
  }

  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::size_t generation_ = 0;
  std::map<std::string, std::optional<Result<T>>> answers_;  // nullopt: being fetched
};

}  // namespace modlock
