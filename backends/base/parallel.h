#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "backends/base/helper_thread.h"

namespace modlock {

// work(0) … work(count - 1), each once, begun by other threads while the caller goes on. At most `width` run at a time,
// the caller's own among them: with one item or width 1 everything runs on the calling thread, when it is asked for.
// `work` must not throw. For one caller.
class WorkAhead {
 public:
  WorkAhead(std::size_t count, std::size_t width, std::function<void(std::size_t)> work);
  WorkAhead(const WorkAhead&) = delete;
  WorkAhead& operator=(const WorkAhead&) = delete;
  // What nobody has begun is left undone.
  ~WorkAhead();

  // Returns when that item is done: the caller does it where nobody has begun it, and others while it waits.
  void finish(std::size_t item);
  void finish_all();

 private:
  enum State : int { open, begun, done };

  void help();
  std::unique_ptr<HelperThread> start_helper();
  bool do_next();
  bool begin(std::size_t item);
  void run(std::size_t item);

  const std::size_t count_;
  const std::size_t most_helpers_;
  const std::function<void(std::size_t)> work_;
  std::unique_ptr<std::atomic<int>[]> states_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> helpers_{0};  // and those that were one too many
  std::unique_ptr<HelperThread> first_helper_;
};

// Calls work(0) … work(count - 1), at most `width` at a time, and returns when all have returned. With one item or
// width 1 everything runs on the calling thread. `work` must not throw.
void parallel_for(std::size_t count, std::size_t width, const std::function<void(std::size_t)>& work);

// The processors of this machine, at least one; asked for once.
std::size_t core_count();

}  // namespace modlock
