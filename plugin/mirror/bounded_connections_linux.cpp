#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "plugin/mirror/bounded_connections.h"

namespace modlock {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kGlance{100};  // how soon a stop is noticed
constexpr std::chrono::seconds kGrace{1};          // for a request to arrive while others wait

}  // namespace

BoundedConnections::BoundedConnections(std::size_t threads) : idle_(threads) {
  for (; threads > 0; --threads) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

BoundedConnections::Enqueued BoundedConnections::enqueue(std::function<void()> job) {
  std::unique_lock lock(mutex_);
  const auto is_free = [this] { return idle_ > 0 && !job_; };
  while (!is_free()) {
    if (unproven_.empty()) {
      changed_.wait(lock);
      continue;
    }
    BoundedStream& oldest = *unproven_.front();
    if (const auto due = oldest.began_ + kGrace; Clock::now() < due) {
      changed_.wait_until(lock, due);
      continue;
    }
    oldest.is_closed_ = true;
    ::shutdown(oldest.socket_, SHUT_RDWR);  // its thread stops waiting
    unproven_.pop_front();
    changed_.wait(lock);
  }
  job_ = std::move(job);
  --idle_;
  changed_.notify_all();
  return Enqueued(true);
}

void BoundedConnections::shutdown() {
  threads_.clear();
}

void BoundedConnections::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!changed_.wait(lock, stop, [this] { return bool(job_); })) {
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

void BoundedConnections::add(BoundedStream& stream) {
  const std::lock_guard lock(mutex_);
  unproven_.push_back(&stream);
}

void BoundedConnections::remove(BoundedStream& stream) {
  const std::lock_guard lock(mutex_);
  std::erase(unproven_, &stream);
}

BoundedStream::BoundedStream(int socket, std::size_t most_bytes, std::chrono::milliseconds patience,
                             BoundedConnections& connections, const std::atomic<bool>& stopping)
    : socket_(socket),
      bytes_left_(most_bytes),
      patience_(patience),
      began_(Clock::now()),
      connections_(connections),
      stopping_(stopping) {
  connections_.add(*this);
}

void BoundedStream::set_proven() {
  connections_.remove(*this);
}

bool BoundedStream::wait_for(short events, Clock::time_point until) const {
  while (!stopping_ && !is_closed_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) {
      return false;
    }
    pollfd watched{.fd = socket_, .events = events, .revents = 0};
    const int found = ::poll(&watched, 1, static_cast<int>(std::min(left, kGlance).count()));
    if (found > 0 || (found < 0 && errno != EINTR)) {
      return found > 0;
    }
  }
  return false;
}

BoundedStream::~BoundedStream() {
  // Unread bytes would make the kernel send a reset, and the client lose the end of the response.
  ::shutdown(socket_, SHUT_WR);
  char rest[4096];
  while (bytes_left_ > 0 && wait_readable()) {
    const ssize_t got = ::recv(socket_, rest, std::min(sizeof(rest), bytes_left_), 0);
    if (got <= 0) {
      break;
    }
    bytes_left_ -= static_cast<std::size_t>(got);
  }
  connections_.remove(*this);
  ::close(socket_);
}

bool BoundedStream::wait_readable() const {
  return wait_for(POLLIN, began_ + patience_);
}

bool BoundedStream::wait_writable() const {
  return wait_for(POLLOUT, Clock::now() + patience_);
}

ssize_t BoundedStream::read(char* into, size_t size) {
  if (bytes_left_ == 0 || !wait_readable()) {
    return -1;
  }
  const ssize_t got = ::recv(socket_, into, std::min(size, bytes_left_), 0);
  bytes_left_ -= got > 0 ? static_cast<std::size_t>(got) : 0;
  return got;
}

ssize_t BoundedStream::write(const char* bytes, size_t size) {
  return wait_writable() ? ::send(socket_, bytes, size, MSG_NOSIGNAL) : -1;
}

}  // namespace modlock
