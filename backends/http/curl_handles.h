#pragma once

#include <curl/curl.h>

#include <array>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/deleter.h"
#include "backends/http/spare_connections.h"

namespace modlock::http {

// A request's handle with a multi handle of its own, which holds the connection it left open. Used by one thread at a
// time.
struct CurlHandle {
  CurlHandle() = default;
  ~CurlHandle();
  CurlHandle(const CurlHandle&) = delete;
  CurlHandle& operator=(const CurlHandle&) = delete;

  std::unique_ptr<CURLM, Deleter<curl_multi_cleanup>> multi;
  std::unique_ptr<CURL, Deleter<curl_easy_cleanup>> easy;
  std::string origin;         // the only one it is used for
  int connected_socket = -1;  // that the exchange just over has opened; -1 where it went over the one it found
};

// Handles between requests. What connections know of each other (names, TLS sessions) is shared among all of them;
// connections themselves are not, because libcurl cannot share them between threads: a handle is lent to whoever asks
// for its origin. Thread-safe.
class HandlePool {
 public:
  // `most_of_one_origin`: how many handles for one origin, each with its connection, are lent at the same time; 1 at
  // least.
  explicit HandlePool(std::size_t most_of_one_origin);
  ~HandlePool();
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;

  // Gives the handle back when the request is over.
  struct ReturnToPool {
    HandlePool* pool = nullptr;
    void operator()(CurlHandle* handle) const { pool->give_back(std::unique_ptr<CurlHandle>(handle)); }
  };
  using PooledHandle = std::unique_ptr<CurlHandle, ReturnToPool>;

  // A handle without options, once there are fewer than most_of_one_origin lent. Null where the context ends first, or
  // libcurl gives none.
  PooledHandle acquire(const std::string& origin, const Context& context);

  // Lets a handle that must connect take the connection that stands ready. One is opened where several handles of an
  // origin are lent and one of them had to connect: the next one that must saves a round trip.
  void offer_spare_connection(CURL* easy);

 private:
  bool wait_for_turn(const std::string& origin, const Context& context);
  std::unique_ptr<CurlHandle> take_idle(const std::string& origin);
  void give_back(std::unique_ptr<CurlHandle> handle);
  void end_turn(const std::string& origin);
  bool wants_spare(const std::string& origin);
  static void lock(CURL* easy, curl_lock_data data, curl_lock_access access, void* self);
  static void unlock(CURL* easy, curl_lock_data data, void* self);
  void open_share();
  std::unique_ptr<CurlHandle> make_handle(const std::string& origin);

  std::once_flag is_open_;
  std::array<std::mutex, CURL_LOCK_DATA_LAST> locks_;
  std::unique_ptr<CURLSH, Deleter<curl_share_cleanup>> share_;
  const std::size_t most_of_one_origin_;
  std::mutex mutex_;
  std::condition_variable_any turn_ended_;
  std::map<std::string, std::size_t, std::less<>> lent_;  // by origin, where there are any
  std::vector<std::unique_ptr<CurlHandle>> idle_;         // the latest used last
  SpareConnections spares_;
};

}  // namespace modlock::http
