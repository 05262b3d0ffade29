#include "protocol/rpc/worker_pool.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace modlock {

WorkerPool::WorkerPool(Limits limits) : limits_(limits) {}

WorkerPool::~WorkerPool() {
  std::deque<Job> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

bool WorkerPool::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    // Jobs that a thread is about to take do not count as waiting.
    if (queue_.size() >= limits_.queue + (limits_.workers - busy_)) {
      return false;
    }
    if (!queue_.empty() && queued_bytes_ + job.bytes > limits_.queue_bytes) {
      return false;
    }
    if (queue_.size() >= threads_.size() - busy_ && threads_.size() < limits_.workers) {
      start_thread();
    }
    queued_bytes_ += job.bytes;
    queue_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

void WorkerPool::start_thread() {
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // One thread is enough to run all jobs; without any, none would run.
    if (threads_.empty()) {
      throw;
    }
  }
}

std::optional<Job> WorkerPool::take(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(queue_, key, &Job::key);
  if (found == queue_.end()) {
    return std::nullopt;
  }
  Job job = std::move(*found);
  queue_.erase(found);
  queued_bytes_ -= job.bytes;
  return job;
}

void WorkerPool::work() {
  // On Linux this applies to this thread, and to threads and processes that it starts. If it fails, only the priority
  // differs.
  [[maybe_unused]] const int nice_value = ::nice(10);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) {
      return;
    }
    ++busy_;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= job.bytes;
    lock.unlock();
    job.run();
    job = {};  // frees its memory before the lock is taken
    lock.lock();
    --busy_;
  }
}

}  // namespace modlock
