#include "backends/http/curl_transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stop_token>

#include "backends/base/pipe_signal.h"
#include "backends/http/curl_failure.h"
#include "backends/http/text.h"

namespace modlock::http {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kHeaderLimit = std::size_t{256} << 10U;
constexpr milliseconds kLongestSleep{60'000};

std::string_view trimmed(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return start == std::string_view::npos ? std::string_view() : text.substr(start, end - start + 1);
}

// "HTTP/1.1 200 OK" -> 200
int status_of(std::string_view line) {
  const std::size_t blank = std::min(line.find(' '), line.size());
  int status = 0;
  std::from_chars(line.data() + std::min(blank + 1, line.size()), line.data() + line.size(), status);
  return status;
}

std::optional<std::uint64_t> length_of(const HttpResponse& response) {
  const auto encoding = response.header("Content-Encoding");
  const auto text = response.header("Content-Length");
  std::uint64_t length = 0;
  if ((encoding && !same_name(*encoding, "identity")) || response.header("Transfer-Encoding") || !text ||
      std::from_chars(text->data(), text->data() + text->size(), length).ec != std::errc()) {
    return std::nullopt;
  }
  return length;
}

template <typename T>
long info(CURL* easy, T what) {
  long value = 0;
  curl_easy_getinfo(easy, what, &value);
  return value;
}

// The socket that this exchange has connected; -1 where it went over one that was connected before.
int connected_socket(CURL* easy) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  return info(easy, CURLINFO_NUM_CONNECTS) > 0 && curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK
             ? socket
             : -1;
}

}  // namespace

// The callbacks are called by C code, through which no exception may pass: noexcept ends the process instead.
void CurlTransfer::set_callbacks(CURL* easy) {
  using Receive = std::size_t (*)(char*, std::size_t, std::size_t, void*) noexcept;
  const Receive on_header = [](char* bytes, std::size_t, std::size_t size, void* self) noexcept {
    return static_cast<CurlTransfer*>(self)->take_header({bytes, size}) ? size : std::size_t{0};
  };
  const Receive on_body = [](char* bytes, std::size_t, std::size_t size, void* self) noexcept {
    return static_cast<CurlTransfer*>(self)->take_body({bytes, size}) ? size : std::size_t{0};
  };
  using Progress = int (*)(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept;
  const Progress on_progress = [](void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t sent) noexcept {
    auto& transfer = *static_cast<CurlTransfer*>(self);
    if (sent != transfer.sent_) {
      transfer.sent_ = sent;
      transfer.last_byte_ = Clock::now();
    }
    return 0;
  };
  using Connected = int (*)(void*, char*, char*, int, int) noexcept;
  const Connected on_connected = [](void* self, char*, char*, int, int) noexcept {
    auto& transfer = *static_cast<CurlTransfer*>(self);
    transfer.is_connected_ = true;
    transfer.last_byte_ = Clock::now();
    return CURL_PREREQFUNC_OK;
  };
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(easy, CURLOPT_XFERINFODATA, this);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, this);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text_.data());
}

ExchangeResult CurlTransfer::run(CurlHandle& handle, std::string server, std::string proxy) {
  const PipeSignalBlocked guard;  // OpenSSL writes without MSG_NOSIGNAL
  CURL* const easy = handle.easy.get();
  set_callbacks(easy);
  CURLcode code = CURLE_FAILED_INIT;
  if (curl_multi_add_handle(handle.multi.get(), easy) == CURLM_OK) {
    code = drive(handle.multi.get());
    handle.connected_socket = code == CURLE_OK ? connected_socket(easy) : -1;
    curl_multi_remove_handle(handle.multi.get(), easy);
  }
  curl_off_t received = 0;
  curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
  if (context_.stats != nullptr && received > 0) {
    context_.stats->bytes += static_cast<std::uint64_t>(received);
  }
  if (stop_) {
    return tl::unexpected(std::move(*stop_));
  }
  if (code == CURLE_OK || is_enough_) {
    return std::move(response_);
  }
  return tl::unexpected(AbortReason(failure_of({.code = code,
                                                .text = error_text_.data(),
                                                .system_error = info(easy, CURLINFO_OS_ERRNO),
                                                .verify_result = info(easy, CURLINFO_SSL_VERIFYRESULT),
                                                .connect_status = info(easy, CURLINFO_HTTP_CONNECTCODE),
                                                .server = std::move(server),
                                                .proxy = std::move(proxy)},
                                               exchange_.timeouts)));
}

CURLcode CurlTransfer::drive(CURLM* multi) {
  const std::stop_callback wake(context_.stop, [multi] { curl_multi_wakeup(multi); });
  while (true) {
    int running = 0;
    if (curl_multi_perform(multi, &running) != CURLM_OK) {
      return CURLE_FAILED_INIT;
    }
    int queued = 0;
    for (const CURLMsg* message = nullptr; (message = curl_multi_info_read(multi, &queued)) != nullptr;) {
      if (message->msg == CURLMSG_DONE) {
        return message->data.result;
      }
    }
    const auto left = time_left();
    if (!left) {
      return CURLE_ABORTED_BY_CALLBACK;
    }
    curl_multi_poll(multi, nullptr, 0U, static_cast<int>(left->count()), nullptr);
  }
}

// How long to sleep at most; nullopt where it is over, with the reason in stop_.
std::optional<milliseconds> CurlTransfer::time_left() {
  if (const auto going = context_.check(); !going) {
    const Error& error = going.error();
    stop_ = ExchangeFailure{.code = error.code, .reason = error.message, .hint = error.hint, .is_final = true};
    return std::nullopt;
  }
  const auto now = Clock::now();
  auto end = now + kLongestSleep;
  const auto ends = [&](Clock::time_point at, const std::string& reason) {
    if (now >= at) {
      stop_ = ExchangeFailure{
          .code = Code::timeout, .reason = reason, .hint = "try again later; the server or the way to it is slow"};
    }
    end = std::min(end, at);
  };
  if (is_connected_) {
    ends(last_byte_ + exchange_.timeouts.idle,
         fmt::format("the server was silent for {}", duration_text(exchange_.timeouts.idle)));
  }
  if (!stop_ && window_start_ && exchange_.timeouts.least_rate > 0) {
    const HttpTimeouts& timeouts = exchange_.timeouts;
    const auto window = static_cast<std::size_t>(timeouts.rate_window.count());
    if (window_bytes_ >= timeouts.least_rate * window / 1000) {
      if (now >= *window_start_ + timeouts.rate_window) {
        window_start_ = now;
        window_bytes_ = 0;
      }
    } else {
      ends(*window_start_ + timeouts.rate_window,
           fmt::format("the answer came at less than {} bytes a second for {}", timeouts.least_rate,
                       duration_text(timeouts.rate_window)));
    }
  }
  if (!stop_ && exchange_.timeouts.total) {
    ends(start_ + *exchange_.timeouts.total,
         fmt::format("the answer was not complete within {}", duration_text(*exchange_.timeouts.total)));
  }
  if (stop_) {
    return std::nullopt;
  }
  end = std::min(end, context_.deadline.value_or(end));
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(end - now));
}

void CurlTransfer::received(std::size_t bytes) {
  last_byte_ = Clock::now();
  window_start_ = window_start_.value_or(last_byte_);
  window_bytes_ += bytes;
}

bool CurlTransfer::take_header(std::string_view line) {
  received(line.size());
  header_bytes_ += line.size();
  if (header_bytes_ > kHeaderLimit) {
    stop_ = ExchangeFailure{.code = Code::bad_response,
                            .reason = fmt::format("its headers are over {} KiB", kHeaderLimit >> 10U),
                            .is_final = true};
    return false;
  }
  if (in_body_) {
    return true;  // a trailer
  }
  const bool is_folded = line.substr(0, 1) == " " || line.substr(0, 1) == "\t";
  const std::string_view text = trimmed(line);
  if (text.empty()) {
    return end_of_headers();
  }
  if (line.substr(0, 5) == "HTTP/") {
    response_.status = status_of(line);
    response_.headers.clear();
  } else if (is_folded && !response_.headers.empty()) {
    response_.headers.back().value += " " + std::string(text);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    response_.headers.push_back(
        {std::string(trimmed(text.substr(0, colon))), std::string(trimmed(text.substr(colon + 1)))});
  }
  return true;
}

bool CurlTransfer::end_of_headers() {
  if (response_.status >= 100 && response_.status <= 199) {
    return true;
  }
  in_body_ = true;
  if (!is_success()) {
    return true;
  }
  const auto length = length_of(response_);
  if (exchange_.method != HttpRequest::Method::head && length && *length > exchange_.body_limit) {
    return too_large();
  }
  if (exchange_.sink != nullptr) {
    if (auto begun = exchange_.sink->begin(length); !begun) {
      stop_ = std::move(begun.error());
      return false;
    }
  }
  return true;
}

bool CurlTransfer::too_large() {
  stop_ = ExchangeFailure{.code = Code::limit_exceeded,
                          .reason = fmt::format("the answer is over {} bytes", exchange_.body_limit),
                          .is_final = true};
  return false;
}

bool CurlTransfer::take_body(std::string_view bytes) {
  if (!is_success()) {
    const std::size_t room = kErrorBodyLimit - response_.body.size();
    response_.body += bytes.substr(0, room);
    is_enough_ = bytes.size() > room;
    received(bytes.size());
    return !is_enough_;
  }
  if (bytes.size() > exchange_.body_limit - body_bytes_) {
    return too_large();
  }
  body_bytes_ += bytes.size();
  if (exchange_.sink == nullptr) {
    response_.body += bytes;
  } else if (auto written = exchange_.sink->write(bytes); !written) {
    stop_ = std::move(written.error());
    return false;
  }
  received(bytes.size());
  return true;
}

}  // namespace modlock::http
