#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

// Answers that are fetched once per key, by whoever asks first; others wait for it, each as long as its own context
// lets it. An answer lives for `kLife`, so that a long-lived process sees what was renewed. A failure is told to those
// who waited for it and then forgotten; what ended because that one asker had enough (cancelled, out of time) is told
// to nobody else. Thread-safe.
template <typename T>
class SingleFlightCache {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLife{60};

  explicit SingleFlightCache(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  // Errors: those of `fetch`; REQUEST_CANCELLED and DEADLINE_EXCEEDED of the context.
  Result<T> get(const std::string& key, const Context& context, const std::function<Result<T>()>& fetch) {
    std::unique_lock lock(mutex_);
    while (true) {
      MODLOCK_TRY(context.check());
      const auto now = now_();
      std::shared_ptr<Question>& latest = questions_[key];
      if (latest == nullptr || (latest->answer && now - latest->answered_at >= kLife)) {
        latest = std::make_shared<Question>();
        return ask(lock, key, latest, fetch);
      }
      const std::shared_ptr<Question> question = latest;
      if (!question->answer) {
        wait(lock, *question, context);
      }
      if (question->answer && !is_of_the_asker_alone(*question->answer)) {
        return *question->answer;
      }
    }
  }

 private:
  struct Question {
    std::optional<Result<T>> answer = {};  // nullopt: being fetched
    Clock::time_point answered_at = {};
  };

  static bool is_of_the_asker_alone(const Result<T>& answer) {
    return !answer &&
           (answer.error().code == Code::request_cancelled || answer.error().code == Code::deadline_exceeded);
  }

  Result<T> ask(std::unique_lock<std::mutex>& lock, const std::string& key, std::shared_ptr<Question> question,
                const std::function<Result<T>()>& fetch) {
    lock.unlock();
    Result<T> answer = fetch();
    lock.lock();
    question->answer = answer;
    question->answered_at = now_();
    if (!answer) {
      questions_.erase(key);
    }
    arrived_.notify_all();
    return answer;
  }

  void wait(std::unique_lock<std::mutex>& lock, const Question& question, const Context& context) {
    const auto answered = [&question] { return question.answer.has_value(); };
    if (context.deadline) {
      arrived_.wait_until(lock, context.stop, *context.deadline, answered);
    } else {
      arrived_.wait(lock, context.stop, answered);
    }
  }

  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::map<std::string, std::shared_ptr<Question>> questions_;
};

}  // namespace modlock
