#include "backends/base/parallel.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

namespace modlock {

WorkAhead::WorkAhead(std::size_t count, std::size_t width, std::function<void(std::size_t)> work)
    : count_(count),
      most_helpers_(std::max<std::size_t>(width, 1) - 1),
      work_(std::move(work)),
      states_(std::make_unique<std::atomic<int>[]>(count)),
      first_helper_(start_helper()) {}

WorkAhead::~WorkAhead() {
  next_ = count_;
}

void WorkAhead::finish(std::size_t item) {
  if (begin(item)) {
    run(item);
    return;
  }
  while (states_[item] != State::done && do_next()) {
  }
  states_[item].wait(State::begun);
}

void WorkAhead::finish_all() {
  while (do_next()) {
  }
  first_helper_.reset();
}

// Threads start threads, each two: sixteen are there after four steps, and none is made for what is done before it
// would begin.
void WorkAhead::help() {
  const std::array started = {start_helper(), start_helper()};
  while (do_next()) {
  }
}

std::unique_ptr<HelperThread> WorkAhead::start_helper() {
  const bool is_more_than_one_left = next_ + 1 < count_;
  return is_more_than_one_left && helpers_++ < most_helpers_ ? std::make_unique<HelperThread>([this] { help(); })
                                                             : nullptr;
}

// Whether an item was left that nobody had begun.
bool WorkAhead::do_next() {
  for (std::size_t item = next_++; item < count_; item = next_++) {
    if (begin(item)) {
      run(item);
      return true;
    }
  }
  return false;
}

bool WorkAhead::begin(std::size_t item) {
  int expected = State::open;
  return states_[item].compare_exchange_strong(expected, State::begun);
}

void WorkAhead::run(std::size_t item) {
  work_(item);
  states_[item] = State::done;
  states_[item].notify_all();
}

void parallel_for(std::size_t count, std::size_t width, const std::function<void(std::size_t)>& work) {
  WorkAhead(count, width, work).finish_all();
}

std::size_t core_count() {
  static const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
  return count;
}

}  // namespace modlock
