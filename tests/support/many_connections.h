#pragma once

#include <httplib.h>

namespace modlock::test {

// A thread for each of so many connections as clients keep open side by side: with fewer, a new one would wait until
// the server gives up an idle one, which takes five seconds.
inline void serve_many_connections(httplib::Server& server) {
  constexpr std::size_t kConnections = 64;
  server.new_task_queue = [] { return new httplib::ThreadPool(kConnections); };
}

}  // namespace modlock::test
