#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "plugin/mirror/bounded_stream.h"

namespace modlock {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kGlance{100};  // how soon a stop is noticed

}  // namespace

BoundedStream::BoundedStream(int socket, std::size_t most_bytes, std::chrono::milliseconds patience,
                             const std::atomic<bool>& stopping)
    : socket_(socket),
      bytes_left_(most_bytes),
      patience_(patience),
      end_of_request_(Clock::now() + patience),
      stopping_(stopping) {}

bool BoundedStream::wait_for(short events, Clock::time_point until) const {
  while (!stopping_) {
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
  // What was not read would make the kernel answer with a reset, and the client lose the end of the answer.
  ::shutdown(socket_, SHUT_WR);
  char rest[4096];
  while (bytes_left_ > 0 && is_readable()) {
    const ssize_t got = ::recv(socket_, rest, std::min(sizeof(rest), bytes_left_), 0);
    if (got <= 0) {
      break;
    }
    bytes_left_ -= static_cast<std::size_t>(got);
  }
  ::close(socket_);
}

bool BoundedStream::is_readable() const {
  return wait_for(POLLIN, end_of_request_);
}

bool BoundedStream::is_writable() const {
  return wait_for(POLLOUT, Clock::now() + patience_);
}

ssize_t BoundedStream::read(char* into, size_t size) {
  if (bytes_left_ == 0 || !is_readable()) {
    return -1;
  }
  const ssize_t got = ::recv(socket_, into, std::min(size, bytes_left_), 0);
  bytes_left_ -= got > 0 ? static_cast<std::size_t>(got) : 0;
  return got;
}

ssize_t BoundedStream::write(const char* bytes, size_t size) {
  return is_writable() ? ::send(socket_, bytes, size, MSG_NOSIGNAL) : -1;
}

void BoundedStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = "127.0.0.1";
  port = 0;
}

void BoundedStream::get_local_ip_and_port(std::string& ip, int& port) const {
  get_remote_ip_and_port(ip, port);
}

}  // namespace modlock
