#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "backends/http/spare_connections.h"

namespace modlock::http {
namespace {

// Servers close what says nothing after some seconds, and what stands between forgets it.
constexpr std::chrono::seconds kTrusted{2};

// Empty where the socket is not connected.
std::string peer_of(int socket) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) {
    return {};
  }
  return {reinterpret_cast<const char*>(&peer), size};
}

// Whether it is connected, and the other side has neither closed it nor said anything.
bool is_ready(int socket) {
  pollfd look{.fd = socket, .events = POLLIN | POLLOUT, .revents = 0};
  return ::poll(&look, 1, 0) == 1 && look.revents == POLLOUT;
}

}  // namespace

int open_socket(int family, int type, int protocol) {
  return ::socket(family, type | SOCK_CLOEXEC, protocol);
}

bool is_connected(int socket) {
  return !peer_of(socket).empty();
}

void SpareConnections::open_like(int socket) {
  std::string address = peer_of(socket);
  if (address.empty()) {
    return;
  }
  const auto* peer = reinterpret_cast<const sockaddr*>(address.data());
  const std::scoped_lock lock(mutex_);
  close_old();
  if (std::any_of(spares_.begin(), spares_.end(), [&](const Spare& spare) { return spare.address == address; })) {
    return;
  }
  Descriptor opened(open_socket(peer->sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0));
  // Whether it succeeds shows when it is taken.
  if (opened.valid()) {
    ::connect(opened.get(), peer, static_cast<socklen_t>(address.size()));
    spares_.push_back({std::move(address), std::move(opened), Clock::now()});
  }
}

int SpareConnections::take(const std::string& address) {
  const std::scoped_lock lock(mutex_);
  close_old();
  const auto found = std::find_if(spares_.begin(), spares_.end(), [&](const Spare& spare) {
    return spare.address == address && is_ready(spare.socket.get());
  });
  if (found == spares_.end()) {
    return -1;
  }
  const int socket = found->socket.release();
  spares_.erase(found);
  return socket;
}

void SpareConnections::close_old() {
  const auto oldest = Clock::now() - kTrusted;
  std::erase_if(spares_, [&](const Spare& spare) { return spare.opened < oldest; });
}

}  // namespace modlock::http
