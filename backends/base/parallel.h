#pragma once

#include <cstddef>
#include <functional>

namespace modlock {

// How many threads all calls of parallel_for in this process may run, in addition to the calling threads. Roots, their
// sources and the requests of each source share them, so that nested calls do not multiply.
constexpr std::size_t kThreadBudget = 96;

// Calls work(0) … work(count - 1), at most `width` at a time, and returns when all have returned. With one item, width
// 1 or an exhausted budget, everything runs on the calling thread. If `work` throws, no further items are started, and
// the first exception is rethrown after the running ones have returned.
void parallel_for(std::size_t count, std::size_t width, const std::function<void(std::size_t)>& work);

// Returns the number of processors of this machine, at least one; determined once.
std::size_t core_count();

}  // namespace modlock
