#pragma once

#include "backends/http/libcurl.h"

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace modlock::http {

// A request's handle with a multi handle of its own, which holds the connection it left open. Used by one thread at a
// time.
struct CurlHandle {
  CurlHandle() = default;
  ~CurlHandle();
  CurlHandle(const CurlHandle&) = delete;
  CurlHandle& operator=(const CurlHandle&) = delete;

  std::unique_ptr<CURLM, Free<curl::multi_cleanup>> multi;
  std::unique_ptr<CURL, Free<curl::easy_cleanup>> easy;
  std::string origin;  // the only one it is used for
};

// Handles between requests. What connections know of each other (names, TLS sessions) is shared among all of them;
// connections themselves are not, because libcurl cannot share them between threads: a handle is lent to whoever asks
// for its origin. Thread-safe.
class HandlePool {
 public:
  HandlePool();
  ~HandlePool();
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;

  // A handle without options. Null where libcurl gives none. Give it back when the request is over.
  std::unique_ptr<CurlHandle> borrow(const std::string& origin);
  void give_back(std::unique_ptr<CurlHandle> handle);

 private:
  static void lock(CURL* easy, curl_lock_data data, curl_lock_access access, void* self);
  static void unlock(CURL* easy, curl_lock_data data, void* self);
  void open_share();
  std::unique_ptr<CurlHandle> make_handle(const std::string& origin);

  std::once_flag is_open_;
  std::array<std::mutex, CURL_LOCK_DATA_LAST> locks_;
  std::unique_ptr<CURLSH, Free<curl::share_cleanup>> share_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CurlHandle>> idle_;  // the latest used last
};

}  // namespace modlock::http
