#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "protocol/base/result.h"

namespace modlock {

// How many threads all calls of parallel_for in this process may run, in addition to the calling threads. Roots, their
// sources and the requests of each source share them, so that nested calls do not multiply.
constexpr std::size_t kThreadBudget = 96;

// Calls work(0) … work(count - 1), at most `width` at a time, and returns when all have returned. With one item, width
// 1 or an exhausted budget, everything runs on the calling thread. If `work` throws, no further items are started, and
// the first exception is rethrown after the running ones have returned.
void parallel_for(std::size_t count, std::size_t width, const std::function<void(std::size_t)>& work);

// Sets each of the answers to `ask(i)`, in the same way. After an error no further call begins, and the first answer is
// an error.
template <typename T, typename Ask>
void parallel_answers(std::vector<Result<T>>& answers, std::size_t width, const Ask& ask) {
  std::atomic<bool> has_failed = false;
  parallel_for(answers.size(), width, [&](std::size_t i) {
    if (!has_failed) {
      answers[i] = ask(i);
      has_failed = has_failed || !answers[i];
    }
  });
  const auto failed = std::ranges::find_if(answers, [](const auto& answer) { return !answer; });
  if (failed != answers.end()) {
    std::swap(answers.front(), *failed);
  }
}

// Returns the number of processors of this machine, at least one; determined once.
std::size_t core_count();

}  // namespace modlock
