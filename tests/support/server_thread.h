#pragma once

#include <httplib.h>

#include <stdexcept>
#include <string>
#include <thread>

namespace modlock::test {

// Serves http on a free port of the loopback, in threads of its own, until the object goes.
class ServerThread {
 public:
  ServerThread() = default;
  ~ServerThread() {
    if (thread_.joinable()) {
      server_->stop();
      thread_.join();
    }
  }
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

  // Throws std::runtime_error, which names `what`, where it cannot listen. The server must outlive this object.
  void start(httplib::Server& server, const std::string& what) {
    // A thread for each of so many connections as clients keep open side by side: with fewer, a new one would wait
    // until the server gives up an idle one, which takes five seconds.
    constexpr std::size_t kConnections = 64;
    server.new_task_queue = [] { return new httplib::ThreadPool(kConnections); };
    server.set_tcp_nodelay(true);
    port_ = server.is_valid() ? server.bind_to_any_port("127.0.0.1") : -1;
    if (port_ <= 0) {
      throw std::runtime_error(what + " cannot listen on the loopback");
    }
    server_ = &server;
    thread_ = std::thread([&server] { server.listen_after_bind(); });
    while (!server.is_running()) {
      std::this_thread::yield();
    }
  }
  int port() const { return port_; }

 private:
  httplib::Server* server_ = nullptr;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace modlock::test
