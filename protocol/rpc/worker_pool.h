#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace modlock {

// A piece of work. It does not throw.
struct Job {
  std::string key = {};   // names it among those queued
  std::size_t bytes = 0;  // what it holds in memory
  std::function<void()> run = {};
};

// Threads that run jobs in the order in which they came, at a lower priority than the thread that made them: a ping is
// answered while all of them compute. All members may be called from several threads.
class WorkerPool {
 public:
  struct Limits {
    std::size_t workers = 8;
    std::size_t queue = 256;                           // jobs that wait
    std::size_t queue_bytes = std::size_t{64} << 20U;  // and their bytes; a job that waits alone may have more
  };

  explicit WorkerPool(Limits limits);
  // Waits for the jobs that run; drops those that wait.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False where too much is waiting already. Throws std::system_error where the process can have no thread at all.
  bool submit(Job job);

  // Takes back a job that still waits.
  std::optional<Job> take(const std::string& key);

 private:
  void work();
  void start_thread();

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t busy_ = 0;  // threads that run a job
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace modlock
