#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "protocol/result.h"

namespace modlock {

// Answers to questions, each asked once in the life of the object, by whoever comes first while others who ask the same
// wait. Thread-safe.
template <typename T>
class AskedOnce {
 public:
  Result<T> get(const std::string& question, const std::function<Result<T>()>& ask) {
    std::shared_ptr<Entry> entry;
    {
      const std::lock_guard lock(mutex_);
      std::shared_ptr<Entry>& known = entries_[question];
      entry = known = known != nullptr ? known : std::make_shared<Entry>();
    }
    const std::lock_guard lock(entry->mutex);
    if (!entry->answer) {
      entry->answer = ask();
    }
    return *entry->answer;
  }

 private:
  struct Entry {
    std::mutex mutex;
    std::optional<Result<T>> answer;
  };

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

}  // namespace modlock
