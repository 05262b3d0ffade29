#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cstddef>

namespace modlock {

// An accepted socket as the HTTP library reads and writes it, within bounds that the library does not have: so many
// bytes in all, and so much time for them to arrive. Owns the socket.
class BoundedStream final : public httplib::Stream {
 public:
  // Everything fails once `stopping`, which outlives it.
  BoundedStream(int socket, std::size_t most_bytes, std::chrono::milliseconds patience,
                const std::atomic<bool>& stopping);
  ~BoundedStream() override;

  // Within the time for the request.
  bool is_readable() const override;
  // Within the patience from now.
  bool is_writable() const override;
  // -1 where the bounds are passed.
  ssize_t read(char* into, size_t size) override;
  ssize_t write(const char* bytes, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  bool wait_for(short events, std::chrono::steady_clock::time_point until) const;

  const int socket_;
  std::size_t bytes_left_;
  const std::chrono::milliseconds patience_;
  const std::chrono::steady_clock::time_point end_of_request_;
  const std::atomic<bool>& stopping_;
};

}  // namespace modlock
