#include "protocol/rpc/line_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace modlock {

Wakeup::Wakeup() {
  if (::pipe(ends_) != 0) {
    // The process cannot serve without descriptors; main catches this.
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  for (const int end : ends_) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
}

Wakeup::~Wakeup() {
  ::close(ends_[0]);
  ::close(ends_[1]);
}

void Wakeup::notify() const {
  // A full pipe is notification enough.
  [[maybe_unused]] const ssize_t written = ::write(ends_[1], "", 1);
}

void Wakeup::clear() const {
  std::array<char, 64> bytes{};
  while (::read(ends_[0], bytes.data(), bytes.size()) > 0) {
  }
}

LineWriter::LineWriter(int fd, std::function<void()> on_change) : LineWriter(fd, std::move(on_change), Limits{}) {}

LineWriter::LineWriter(int fd, std::function<void()> on_change, Limits limits)
    : fd_(fd), on_change_(std::move(on_change)), limits_(limits), thread_([this] { run(); }) {}

LineWriter::~LineWriter() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  stop_.notify();
  changed_.notify_all();
  thread_.join();
}

bool LineWriter::write(std::string line) {
  return enqueue(std::move(line), false);
}

bool LineWriter::offer(std::string line) {
  return enqueue(std::move(line), true);
}

bool LineWriter::enqueue(std::string line, bool droppable) {
  line += '\n';
  // Allocated before the lock is taken: a slow allocation would block all other threads.
  std::list<std::string> lines;
  lines.push_back(std::move(line));
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || (droppable && queued_bytes_ > limits_.droppable_bytes)) {
      return false;
    }
    queued_bytes_ += lines.front().size();
    queue_.splice(queue_.end(), lines);
  }
  changed_.notify_all();
  return true;
}

bool LineWriter::is_idle() const {
  const std::lock_guard lock(mutex_);
  return closed_ || queue_.empty();
}

bool LineWriter::is_backlogged() const {
  const std::lock_guard lock(mutex_);
  return !closed_ && queued_bytes_ > limits_.backlog_bytes;
}

bool LineWriter::is_closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void LineWriter::run() {
  // Only this thread writes, and it consumes a pending SIGPIPE, so the process keeps its own disposition.
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);

  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
    if (closed_) {
      return;
    }
    // References into a list stay valid when others append.
    const std::string& line = queue_.front();
    lock.unlock();
    const bool written = write_all(line);
    lock.lock();
    const bool was_backlogged = queued_bytes_ > limits_.backlog_bytes;
    if (written) {
      queued_bytes_ -= queue_.front().size();
      queue_.pop_front();
    } else {
      closed_ = true;
      queue_.clear();
      queued_bytes_ = 0;
    }
    const bool tell = closed_ || queue_.empty() || (was_backlogged && queued_bytes_ <= limits_.backlog_bytes);
    if (tell && on_change_) {
      lock.unlock();
      on_change_();
      lock.lock();
    }
  }
}

// Waits in poll and writes at most what a pipe accepts at once, so that a reader who never reads cannot block the
// thread when the writer is destroyed.
bool LineWriter::write_all(const std::string& line) {
  std::size_t at = 0;
  while (at < line.size()) {
    pollfd waiting[2] = {{fd_, POLLOUT, 0}, {stop_.fd(), POLLIN, 0}};
    if (::poll(waiting, 2, -1) < 0) {
      if (errno == EINTR) {
        continue;
      }
      return false;
    }
    if (waiting[1].revents != 0) {
      return false;
    }
    const ssize_t written = ::write(fd_, line.data() + at, std::min<std::size_t>(line.size() - at, PIPE_BUF));
    if (written >= 0) {
      at += static_cast<std::size_t>(written);
    } else if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
      return false;
    }
  }
  return true;
}

}  // namespace modlock
