#pragma once

#include <cstddef>
#include <functional>

namespace modlock {

// Calls work(0) … work(count - 1), at most `width` at a time, and returns when all have returned. With one item or
// width 1 everything runs on the calling thread. `work` must not throw.
void parallel_for(std::size_t count, std::size_t width, const std::function<void(std::size_t)>& work);

// The processors of this machine, at least one; asked for once.
std::size_t core_count();

}  // namespace modlock
