#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace modlock {

// Wakes a thread that waits in poll: a pipe to itself. `notify` may be called from any thread and never blocks; several
// notifications before a `clear` count as one.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  void notify() const;
  void clear() const;
  // Readable while there is a notification.
  int fd() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
};

// Writes whole lines to a file descriptor, in the order in which they came, from one thread of its own; so no caller
// ever waits for the reader at the other end. Partial writes and interruptions are retried. Once the reader is gone
// (EPIPE) or the descriptor fails the writer is closed: what is queued is dropped, and so is all that follows. No
// SIGPIPE is raised. Neither owns nor closes the descriptor. All members may be called from several threads.
class LineWriter {
 public:
  struct Limits {
    std::size_t droppable_bytes = std::size_t{256} << 10U;  // `offer` drops its line while more than this is queued
    std::size_t backlog_bytes = std::size_t{8} << 20U;      // `is_backlogged` while more than this is queued
  };

  // `on_change` is called from the writing thread when the queue ran empty or below the backlog, and when the writer
  // closed itself.
  explicit LineWriter(int fd, std::function<void()> on_change = {});
  LineWriter(int fd, std::function<void()> on_change, Limits limits);
  // Drops what is still queued: wait for `is_idle` first where it matters.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Queues one line; the LF is added here. False once closed.
  bool write(std::string line);
  // As `write`, for lines that may be lost: dropped (false) while much is queued.
  bool offer(std::string line);

  // Nothing is queued or being written (also once closed).
  bool is_idle() const;
  bool is_backlogged() const;
  bool is_closed() const;

 private:
  void run();
  bool write_all(const std::string& line);
  bool enqueue(std::string line, bool droppable);

  int fd_;
  std::function<void()> on_change_;
  Limits limits_;
  Wakeup stop_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::string> queue_;  // the front stays until it is written
  std::size_t queued_bytes_ = 0;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace modlock
