#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace modlock {

class BoundedStream;

// Runs each connection on one of a fixed number of threads. If none is free, it closes the oldest connection that has
// not sent the secret path within a second, so that other users of the machine cannot occupy all threads. If all have
// sent it, the HTTP library accepts no further connection until a thread is free.
class BoundedConnections final : public httplib::TaskQueue {
 public:
  // Throws std::system_error if a thread cannot be started.
  explicit BoundedConnections(std::size_t threads);

  // In cpp-httplib 0.11 it returns nothing, and later whether there was room: there is.
  using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));
  Enqueued enqueue(std::function<void()> job) override;
  void shutdown() override;

 private:
  friend class BoundedStream;
  void work(const std::stop_token& stop);
  void add(BoundedStream& stream);
  void remove(BoundedStream& stream);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<void()> job_;
  std::size_t idle_;
  std::deque<BoundedStream*> unproven_;  // oldest first
  std::vector<std::jthread> threads_;    // last: they use everything else
};

// The functions of a stream by the names of all versions of cpp-httplib. Up to 0.18 it waits in is_readable() and
// is_writable(), and from 0.20 in the other two, so none of them can be marked with "override".
class AnyStream : public httplib::Stream {
 public:
  virtual bool wait_readable() const = 0;
  virtual bool wait_writable() const = 0;
  bool is_readable() const { return wait_readable(); }
  bool is_writable() const { return wait_writable(); }
  time_t duration() const { return 0; }  // clients ask for it
};

// An accepted socket for the HTTP library, with limits that the library does not have: on the bytes of a request, and
// on the time for them to arrive. Owns the socket.
class BoundedStream final : public AnyStream {
 public:
  // Every operation fails after `stopping` is set. Both references outlive the stream.
  BoundedStream(int socket, std::size_t most_bytes, std::chrono::milliseconds patience, BoundedConnections& connections,
                const std::atomic<bool>& stopping);
  ~BoundedStream() override;
  BoundedStream(const BoundedStream&) = delete;
  BoundedStream& operator=(const BoundedStream&) = delete;

  // The request has the secret path: it is no longer closed in favor of others.
  void set_proven();

  // Within the time for the request.
  bool wait_readable() const override;
  // Within the patience from now.
  bool wait_writable() const override;
  // -1 if a limit is exceeded.
  ssize_t read(char* into, size_t size) override;
  ssize_t write(const char* bytes, size_t size) override;
  // No handler asks for an address.
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  socket_t socket() const override { return socket_; }

 private:
  friend class BoundedConnections;
  bool wait_for(short events, std::chrono::steady_clock::time_point until) const;

  const int socket_;
  std::size_t bytes_left_;
  const std::chrono::milliseconds patience_;
  const std::chrono::steady_clock::time_point began_;
  BoundedConnections& connections_;
  const std::atomic<bool>& stopping_;
  std::atomic<bool> is_closed_{false};  // for another connection
};

}  // namespace modlock
