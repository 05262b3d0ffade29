#pragma once

#include <cstddef>
#include <functional>

namespace modlock {

// How many threads all calls of parallel_for in this process may start, in addition to the threads that call it. Many
// roots, the sources of each and the requests of each source share them: nested calls do not multiply.
constexpr std::size_t kThreadBudget = 96;

// Calls work(0) … work(count - 1), at most `width` at a time, and returns when all have returned. With one item, width
// 1 or no thread left of the budget, everything runs on the calling thread. What `work` throws is
// thrown here, once what was begun has returned; the rest is not begun.
void parallel_for(std::size_t count, std::size_t width, const std::function<void(std::size_t)>& work);

// The processors of this machine, at least one; asked for once.
std::size_t core_count();

}  // namespace modlock
