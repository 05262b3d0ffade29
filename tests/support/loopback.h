#pragma once

#include <utility>

namespace modlock::test {

// A listening socket on a free port of the loopback, and the port. Throws std::runtime_error.
std::pair<int, int> listen_on_loopback();

// A port of the loopback that was free a moment ago. Another process may take it first, so a server is started again
// that often.
int free_port();
constexpr int kPortAttempts = 5;

// Whether somebody takes connections on a port of the loopback.
bool accepts(int port);

// A socket on the loopback that takes connections and never says a word.
class SilentServer {
 public:
  SilentServer();
  ~SilentServer();
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  int port() const { return port_; }

 private:
  int socket_ = -1;
  int port_ = 0;
};

// A port of the loopback that refuses connections: it is taken, and nobody listens.
class RefusedPort {
 public:
  RefusedPort();
  ~RefusedPort();
  RefusedPort(const RefusedPort&) = delete;
  RefusedPort& operator=(const RefusedPort&) = delete;
  int port() const { return port_; }

 private:
  int socket_ = -1;
  int port_ = 0;
};

}  // namespace modlock::test
