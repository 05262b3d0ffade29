#pragma once

#include <curl/curl.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backends/base/deleter.h"

namespace modlock::http {

// Runs any number of libcurl transfers in parallel, on one thread with one multi handle. The thread starts with the
// first transfer. Connections stay open for later transfers; several transfers share one if the server supports HTTP/2.
// A host has at most `connections_per_host` connections; further transfers wait in order of arrival. Thread-safe; all
// transfers must have ended before it is destroyed.
class TransferLoop {
 public:
  using Clock = std::chrono::steady_clock;

  // A transfer, from start() until ended().
  class Transfer {
   public:
    // `origin`: scheme, host and port. `easy` has all options except those that start() sets.
    Transfer(std::string origin, CURL* easy) : origin_(std::move(origin)), easy_(easy) {}
    virtual ~Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    CURL* easy() const { return easy_; }

   private:
    friend class TransferLoop;
    // Both are called on the loop's thread. connected(): the request is about to be sent; `since`: when connecting
    // began, or now if a connection was open.
    virtual void connected(Clock::time_point since) = 0;
    // libcurl no longer uses the handle, and the loop no longer uses this object.
    virtual void ended(CURLcode result) = 0;

    const std::string origin_;
    CURL* const easy_;
    TransferLoop* loop_ = nullptr;
    // Guarded by the loop's mutex.
    Clock::time_point started_ = {};
    std::optional<Clock::time_point> connecting_ = {};  // since it began to resolve the name or to open a socket
    bool is_connected_ = false;
  };

  explicit TransferLoop(std::size_t connections_per_host) : connections_per_host_(connections_per_host) {}
  ~TransferLoop();
  TransferLoop(const TransferLoop&) = delete;
  TransferLoop& operator=(const TransferLoop&) = delete;

  // Sets the callbacks for the name, the socket and the request, and starts the transfer. Returns false, without
  // calling ended(), if libcurl provides no multi handle. Throws std::system_error if the thread cannot be started; the
  // next transfer tries again.
  bool start(Transfer& transfer);
  // Continues a transfer whose callback returned CURL_WRITEFUNC_PAUSE.
  void resume(Transfer& transfer);
  // Ends a transfer; ended() follows.
  void cancel(Transfer& transfer);

  // Returns since when an unconnected transfer has been waiting for its connection to be made. Time during which others
  // have the connections of its host is not included.
  Clock::time_point connecting_since(const Transfer& transfer) const;

 private:
  struct Order {
    enum class Kind { start, resume, cancel } kind;
    Transfer* transfer;
  };
  bool open();  // with mutex_
  void set_callbacks(Transfer& transfer);
  void give(Order order);
  void run();
  bool obey();
  void collect();
  void end(Transfer& transfer, CURLcode result);
  void retry_waiting();
  void read_again();
  void note_connecting(Transfer& transfer);
  void note_connected(Transfer& transfer);

  const std::size_t connections_per_host_;
  std::unique_ptr<CURLM, Deleter<curl_multi_cleanup>> multi_;
  std::unique_ptr<CURL, Deleter<curl_easy_cleanup>> nudge_;
  bool has_changed_ = false;  // only for the loop's thread: waiting transfers may find a connection now
  mutable std::mutex mutex_;
  bool is_ending_ = false;
  std::vector<Order> orders_;
  std::vector<Transfer*> running_;
  std::map<std::string, Clock::time_point, std::less<>> reached_;  // when a connected transfer last ended, by origin
  std::thread thread_;
};

}  // namespace modlock::http
