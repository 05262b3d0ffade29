#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "backends/base/descriptor.h"

namespace modlock::http {

// A TCP socket as socket(2) makes it, closed where a program is started; -1 where there is none.
int open_socket(int family, int type, int protocol);
bool is_connected(int socket);

// TCP connections that nobody uses yet: whoever has to open one takes it, and is a round trip ahead. One at most for an
// address; after a few seconds it is not taken any more, and closed with the next call. Nothing is sent over one. Where
// the other side drops it at the very moment it is taken, the request fails like one on a new connection. Thread-safe.
// Addresses are those of connect(2), as bytes.
class SpareConnections {
 public:
  // Starts to connect to where this socket is connected to; does not wait for it.
  void open_like(int socket);
  // The spare connection to an address where it is there by now, and the other side has not closed it. None: -1, as
  // where it was opened too long ago to be trusted. It is the caller's from then on.
  int take(const std::string& address);

 private:
  using Clock = std::chrono::steady_clock;
  struct Spare {
    std::string address;
    Descriptor socket;
    Clock::time_point opened;
  };
  void close_old();  // with mutex_

  std::mutex mutex_;
  std::vector<Spare> spares_;
};

}  // namespace modlock::http
