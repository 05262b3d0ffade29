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

// A unit of work. It does not throw.
struct Job {
  std::string key = {};   // identifies it among queued jobs
  std::size_t bytes = 0;  // its memory use
  std::function<void()> run = {};
};

// Threads that run jobs in order, at a lower priority than the thread that submits them, so that a ping is answered
// while all of them compute. Thread-safe.
class WorkerPool {
 public:
  struct Limits {
    std::size_t workers = 8;
    std::size_t queue = 256;                           // waiting jobs
    std::size_t queue_bytes = std::size_t{64} << 20U;  // and their bytes; a single waiting job may exceed it
  };

  explicit WorkerPool(Limits limits);
  // Waits for running jobs; drops waiting ones.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False if too much is waiting already. Throws std::system_error, and drops the job, if the
  // process cannot start a single thread.
  bool submit(Job job);

  // Removes and returns a job that still waits.
  std::optional<Job> take(const std::string& key);

 private:
  void work();
  void start_thread();

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t busy_ = 0;  // threads that are running a job
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace modlock
