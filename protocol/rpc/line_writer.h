#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace modlock {

// Wakes a thread that waits in poll, through a pipe. `notify` may be called from any thread and never blocks; several
// notifications before a `clear` count as one.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  void notify() const;
  void clear() const;
  // Readable while a notification is pending.
  int fd() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
};

// Writes whole lines to a file descriptor, in order, from its own thread, so that callers never wait for the reader at
// the other end. Retries partial writes and interruptions. If the reader is gone (EPIPE) or the descriptor fails, the
// writer is closed: queued and later lines are dropped. Raises no SIGPIPE. Does not own or close the descriptor.
// Thread-safe.
class LineWriter {
 public:
  struct Limits {
    std::size_t droppable_bytes = std::size_t{256} << 10U;  // `offer` drops its line while more than this is queued
    std::size_t backlog_bytes = std::size_t{8} << 20U;      // `is_backlogged` while more than this is queued
  };

  // `on_change` is called from the writing thread when the queue becomes empty or falls below the backlog, and when the
  // writer closes itself.
  explicit LineWriter(int fd, std::function<void()> on_change = {});
  LineWriter(int fd, std::function<void()> on_change, Limits limits);
  // Drops queued lines: wait for `is_idle` first if they matter.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Queues one line and adds the LF. Returns false if the writer is closed.
  bool write(std::string line);
  // Like `write`, for lines that may be dropped: returns false and drops the line while much is queued.
  bool offer(std::string line);

  // Whether nothing is queued or being written (also if closed).
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
