#pragma once

#include <curl/curl.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "backends/http/retrying_http_client.h"
#include "backends/http/transfer_loop.h"

namespace modlock::http {

// libcurl's report of a failed transfer.
struct CurlVerdict {
  CURLcode code = CURLE_OK;
  std::string_view text = {};  // of CURLOPT_ERRORBUFFER: adds to the code; never shown
  long system_error = 0;       // CURLINFO_OS_ERRNO
  long verify_result = 0;      // CURLINFO_SSL_VERIFYRESULT
  long connect_status = 0;     // of a proxy's response to CONNECT
  std::string server = {};     // host and port
  std::string proxy = {};      // scheme, host and port; empty: none
};

// Describes the failure in tofu-modlock's own wording, which contains no secret.
ExchangeFailure failure_of(const CurlVerdict& verdict);

// One exchange while it runs. The loop's thread receives the data from libcurl. The waiting thread enforces the
// timeouts, stops on request, and feeds the sink, so that a slow sink delays no other transfer.
class CurlTransfer final : public TransferLoop::Transfer {
 public:
  // `easy` has all its options except the callbacks. All references outlive the object.
  CurlTransfer(const Exchange& exchange, const Context& context, std::string origin, CURL* easy);

  // Runs the transfer to its end, and returns the result. `server` and `proxy` name the other side in errors.
  ExchangeResult run(TransferLoop& loop, std::string server, std::string proxy);

 private:
  using Clock = TransferLoop::Clock;
  using AbortReason = std::variant<ExchangeFailure, Error>;

  // On the loop's thread.
  void connected(Clock::time_point since) override;
  void ended(CURLcode result) override;
  void note_sent(curl_off_t sent);
  void received(std::size_t bytes);
  bool take_header(std::string_view line);
  bool end_of_headers();
  bool too_large();
  std::size_t take_body(std::string_view bytes);

  // On the thread that waits.
  void drive(TransferLoop& loop);
  void feed(std::unique_lock<std::mutex>& lock, TransferLoop& loop);
  void cancel(TransferLoop& loop);
  std::optional<Clock::time_point> next_end(const TransferLoop& loop);
  long info(CURLINFO what) const;

  bool is_success() const { return response_.status >= 200 && response_.status <= 299; }

  const Exchange& exchange_;
  const Context& context_;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  std::string taken_;  // empty; keeps its memory for what arrives next

  std::mutex mutex_;  // guards everything below
  std::condition_variable_any changed_;
  std::optional<CURLcode> result_;  // set when it has ended
  HttpResponse response_;
  std::optional<AbortReason> stop_;  // why this side ended it
  bool is_enough_ = false;           // this side ended it because the rest of the body is not needed
  bool is_cancelled_ = false;        // the sink gets nothing more
  bool in_body_ = false;
  bool begins_ = false;  // the sink's begin() is still to be called, with this length
  std::optional<std::uint64_t> length_;
  std::string arrived_;  // for the sink
  std::size_t most_ahead_ = 0;
  bool is_paused_ = false;
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  curl_off_t sent_ = 0;
  std::size_t released_ = 0;                       // bytes of the request that are no longer in memory
  std::size_t window_bytes_ = 0;                   // of the response since window_start_
  std::optional<Clock::time_point> window_start_;  // none before the first header
  std::optional<Clock::time_point> begun_;         // none before the request is sent
  Clock::time_point last_byte_;                    // since then, of the request or the response
};

}  // namespace modlock::http
