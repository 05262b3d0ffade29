#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "backends/http/curl_handles.h"
#include "backends/http/exchange.h"

namespace modlock::http {

// One exchange while it runs: takes what libcurl hands over, keeps the clocks, and stops when told. Lives on the stack
// of the thread that waits for it.
class CurlTransfer {
 public:
  CurlTransfer(const Exchange& exchange, const Context& context) : exchange_(exchange), context_(context) {}
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  // Sets this object's callbacks, runs to the end, and returns what became of it. `server` and `proxy` name the other
  // side in errors.
  ExchangeResult run(CurlHandle& handle, std::string server, std::string proxy);

 private:
  using Clock = std::chrono::steady_clock;
  using AbortReason = std::variant<ExchangeFailure, Error>;

  void set_callbacks(CURL* easy);
  CURLcode drive(CURLM* multi);
  std::optional<std::chrono::milliseconds> time_left();
  bool take_header(std::string_view line);
  bool end_of_headers();
  bool take_body(std::string_view bytes);
  bool too_large();
  void received(std::size_t bytes);
  bool is_success() const { return response_.status >= 200 && response_.status <= 299; }

  const Exchange& exchange_;
  const Context& context_;
  HttpResponse response_;
  std::optional<AbortReason> stop_;  // why we ended it
  bool is_enough_ = false;           // we ended it because the rest of the body is of no use
  bool in_body_ = false;
  bool is_connected_ = false;
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  curl_off_t sent_ = 0;
  std::size_t window_bytes_ = 0;                   // of the answer since window_start_
  std::optional<Clock::time_point> window_start_;  // none before the first header
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_byte_ = start_;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
};

}  // namespace modlock::http
