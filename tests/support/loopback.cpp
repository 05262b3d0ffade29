#include "tests/support/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <tuple>

namespace modlock::test {
namespace {

// A socket that has a free port of the loopback, and the port.
std::pair<int, int> bind_on_loopback() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (socket < 0 || ::bind(socket, plain, size) != 0 || ::getsockname(socket, plain, &size) != 0) {
    throw std::runtime_error("no free port on the loopback");
  }
  return {socket, ntohs(address.sin_port)};
}

}  // namespace

std::pair<int, int> listen_on_loopback() {
  const auto bound = bind_on_loopback();
  if (::listen(bound.first, 128) != 0) {
    throw std::runtime_error("cannot listen on the loopback");
  }
  return bound;
}

int free_port() {
  const auto [socket, port] = bind_on_loopback();
  ::close(socket);
  return port;
}

bool accepts(int port) {
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool connected = ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  ::close(client);
  return connected;
}

SilentServer::SilentServer() {
  std::tie(socket_, port_) = listen_on_loopback();
}

SilentServer::~SilentServer() {
  ::close(socket_);
}

RefusedPort::RefusedPort() {
  std::tie(socket_, port_) = bind_on_loopback();
}

RefusedPort::~RefusedPort() {
  ::close(socket_);
}

}  // namespace modlock::test
