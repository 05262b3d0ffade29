#pragma once

#include <httplib.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace modlock {

// So many threads and no waiting jobs: whoever brings one waits until a thread is free. The HTTP library then accepts
// no further connection, and they wait in the kernel.
class BoundedQueue final : public httplib::TaskQueue {
 public:
  explicit BoundedQueue(std::size_t threads) {
    for (; threads > 0; --threads) {
      ++idle_;
      threads_.emplace_back([this] { work(); });
    }
  }

  void enqueue(std::function<void()> job) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return idle_ > 0 && !job_; });
    job_ = std::move(job);
    --idle_;
    changed_.notify_all();
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ends_ || job_; });
      if (!job_) {
        return;
      }
      const std::function<void()> job = std::exchange(job_, nullptr);
      lock.unlock();
      job();
      lock.lock();
      ++idle_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;
  std::size_t idle_ = 0;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace modlock
