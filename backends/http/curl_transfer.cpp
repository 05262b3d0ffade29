#include "backends/http/curl_transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/http/http_client.h"
#include "protocol/base/system_reason.h"

namespace modlock::http {
namespace {

constexpr std::string_view kCheckProxy = "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY";
constexpr std::string_view kTrustHint =
    "if you trust its authority, name a file with the authority's certificate in SSL_CERT_FILE, or a directory of such "
    "files in SSL_CERT_DIR";

bool says(const CurlVerdict& verdict, std::string_view words) {
  return verdict.text.find(words) != std::string_view::npos;
}

ExchangeFailure unreachable(std::string reason, std::string_view hint = {}) {
  return {.code = Code::unreachable, .reason = std::move(reason), .hint = hint};
}

ExchangeFailure bad_response(std::string reason) {
  return {.code = Code::bad_response, .reason = std::move(reason), .is_final = true};
}

ExchangeFailure tls(std::string reason, std::string_view hint, Reason kind = Reason::certificate) {
  return {Code::unreachable, std::move(reason), hint, true, kind};
}

// Returns the library's text after the last of these marks; OpenSSL's texts contain no secrets.
std::string behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  const std::string_view rest = at == std::string_view::npos ? text : text.substr(at + mark.size());
  return quotable(rest, 100);
}

ExchangeFailure not_connected(const CurlVerdict& verdict) {
  const std::string whom = verdict.proxy.empty() ? verdict.server : "the proxy " + verdict.proxy;
  std::string_view hint =
      verdict.proxy.empty() ? "check the address, and the network and proxy settings of this machine" : kCheckProxy;
  if (verdict.system_error == ECONNREFUSED) {
    return unreachable(whom + " refused the connection", hint);
  }
  if (verdict.system_error == EMFILE || verdict.system_error == ENFILE) {
    hint = system_advice(static_cast<int>(verdict.system_error));
  }
  return verdict.system_error == 0 ? unreachable("no connection to " + whom, hint)
                                   : unreachable(fmt::format("no connection to {}: {}", whom,
                                                             system_reason(static_cast<int>(verdict.system_error))),
                                                 hint);
}

ExchangeFailure certificate_failure(const CurlVerdict& verdict) {
  // The numbers of X509_V_ERR_* are part of OpenSSL's interface.
  constexpr long kNotYetValid = 9;
  constexpr long kExpired = 10;
  constexpr std::array kUnknownAuthority = {2L, 18L, 19L, 20L, 21L};
  const std::string whose =
      fmt::format("the TLS certificate of {}",
                  verdict.proxy.empty() || !says(verdict, "proxy") ? verdict.server : "the proxy " + verdict.proxy);
  if (verdict.verify_result == kExpired) {
    return tls(whose + " has expired", "ask its operator to renew it; also check the clock of this machine");
  }
  if (verdict.verify_result == kNotYetValid) {
    return tls(whose + " is not valid yet", "check the clock of this machine");
  }
  if (std::ranges::find(kUnknownAuthority, verdict.verify_result) != kUnknownAuthority.end()) {
    return tls(whose + " is signed by an authority that is not trusted here", kTrustHint);
  }
  if (says(verdict, "subject name")) {
    return tls(whose + " is for another host", "check the host name, and whether a proxy responds in its place");
  }
  return tls(fmt::format("{} was not accepted: {}", whose, behind(verdict.text, "SSL certificate problem: ")),
             kTrustHint);
}

ExchangeFailure handshake_failure(const CurlVerdict& verdict) {
  if (says(verdict, "Connection reset") || says(verdict, "SSL_ERROR_SYSCALL") || says(verdict, "unexpected eof")) {
    return unreachable("the connection was closed during the TLS handshake");
  }
  return tls(fmt::format("no TLS connection to {}: {}", verdict.server, behind(verdict.text, "::")),
             "check that the port uses TLS", Reason::no_tls);
}

ExchangeFailure receive_failure(const CurlVerdict& verdict) {
  if (verdict.connect_status >= 300) {
    const std::string_view hint = verdict.connect_status == 407
                                      ? "put the user name and password for the proxy into the URL of HTTPS_PROXY"
                                      : kCheckProxy;
    ExchangeFailure failure = unreachable(
        fmt::format("the proxy {} refused the connection (status {})", verdict.proxy, verdict.connect_status), hint);
    failure.is_final = verdict.connect_status < 500;
    return failure;
  }
  if (says(verdict, "chunk")) {
    return bad_response("the chunked encoding of the body is malformed");
  }
  return unreachable("the connection was interrupted");
}

using std::chrono::milliseconds;

constexpr std::size_t kHeaderLimit = std::size_t{256} << 10U;
// The bytes that may arrive before a sink receives them; then the transfer pauses. With HTTP/2 a pause may delay others
// on the same connection, so this limit is larger than most packages.
constexpr std::size_t kMostAhead = std::size_t{256} << 10U;
constexpr std::size_t kMostAheadOfOthers = std::size_t{1} << 20U;
constexpr milliseconds kLongestSleep{60'000};

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
  if ((encoding && !ascii::equals_ignoring_case(*encoding, "identity")) || response.header("Transfer-Encoding") ||
      !text || std::from_chars(text->data(), text->data() + text->size(), length).ec != std::errc()) {
    return std::nullopt;
  }
  return length;
}

}  // namespace

ExchangeFailure failure_of(const CurlVerdict& verdict) {
  switch (verdict.code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return unreachable("the host name could not be resolved",
                         "check the host name, and the name service and proxy settings of this machine");
    case CURLE_COULDNT_RESOLVE_PROXY:
      return unreachable(fmt::format("the name of the proxy {} could not be resolved", verdict.proxy), kCheckProxy);
    case CURLE_COULDNT_CONNECT:
      return not_connected(verdict);
    case CURLE_PEER_FAILED_VERIFICATION:
      return certificate_failure(verdict);
    case CURLE_SSL_CONNECT_ERROR:
      return handshake_failure(verdict);
    case CURLE_SSL_CACERT_BADFILE:
      return tls("the certificates of trusted authorities cannot be read", "check SSL_CERT_FILE and SSL_CERT_DIR",
                 Reason::none);
    case CURLE_GOT_NOTHING:
      return unreachable("the connection was closed without a response");
    case CURLE_PARTIAL_FILE:
      return unreachable("the body was truncated");
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return receive_failure(verdict);
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return bad_response(says(verdict, "Content-Length") ? "invalid Content-Length" : "the response is not HTTP");
    case CURLE_BAD_CONTENT_ENCODING:
      return bad_response("the body does not match its Content-Encoding");
    case CURLE_OUT_OF_MEMORY:
#if LIBCURL_VERSION_NUM >= 0x080600
    case CURLE_TOO_LARGE:
#endif
      return bad_response("a header is too long");
    case CURLE_URL_MALFORMAT:
      return {.code = Code::source_invalid, .reason = "the URL cannot be read", .is_final = true};
    default:
      return unreachable(curl_easy_strerror(verdict.code));
  }
}

// C code calls the callbacks, and no exception may pass through it: noexcept ends the process instead.
CurlTransfer::CurlTransfer(const Exchange& exchange, const Context& context, std::string origin, CURL* easy)
    : Transfer(std::move(origin), easy), exchange_(exchange), context_(context) {
  const auto set = [easy](CURLoption option, auto value) { curl_easy_setopt(easy, option, value); };
  using Receive = std::size_t (*)(char*, std::size_t, std::size_t, void*) noexcept;
  const Receive on_header = [](char* bytes, std::size_t, std::size_t size, void* self) noexcept {
    return static_cast<CurlTransfer*>(self)->take_header({bytes, size}) ? size : std::size_t{0};
  };
  const Receive on_body = [](char* bytes, std::size_t, std::size_t size, void* self) noexcept {
    return static_cast<CurlTransfer*>(self)->take_body({bytes, size});
  };
  using Progress = int (*)(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept;
  const Progress on_progress = [](void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t sent) noexcept {
    static_cast<CurlTransfer*>(self)->note_sent(sent);
    return 0;
  };
  set(CURLOPT_HEADERFUNCTION, on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, on_progress);
  set(CURLOPT_XFERINFODATA, this);
  set(CURLOPT_ERRORBUFFER, error_text_.data());
}

ExchangeResult CurlTransfer::run(TransferLoop& loop, std::string server, std::string proxy) {
  const auto started = without_exceptions("the HTTP client", [&]() -> Result<bool> { return loop.start(*this); });
  if (!started) {
    stop_ = started.error();
  } else if (!*started) {
    result_ = CURLE_FAILED_INIT;
  } else {
    drive(loop);
  }
  curl_off_t received = 0;
  curl_easy_getinfo(easy(), CURLINFO_SIZE_DOWNLOAD_T, &received);
  if (context_.stats != nullptr && received > 0) {
    context_.stats->bytes += static_cast<std::uint64_t>(received);
  }
  if (stop_) {
    return tl::unexpected(std::move(*stop_));
  }
  if (result_ == CURLE_OK || is_enough_) {
    return std::move(response_);
  }
  return tl::unexpected(AbortReason(failure_of({.code = *result_,
                                                .text = error_text_.data(),
                                                .system_error = info(CURLINFO_OS_ERRNO),
                                                .verify_result = info(CURLINFO_SSL_VERIFYRESULT),
                                                .connect_status = info(CURLINFO_HTTP_CONNECTCODE),
                                                .server = std::move(server),
                                                .proxy = std::move(proxy)})));
}

long CurlTransfer::info(CURLINFO what) const {
  long value = 0;
  curl_easy_getinfo(easy(), what, &value);
  return value;
}

void CurlTransfer::connected(Clock::time_point since) {
  const std::scoped_lock lock(mutex_);
  begun_ = since;
  last_byte_ = Clock::now();
}

// Holds the mutex until the end: as soon as it is free, the waiting thread may destroy this object.
void CurlTransfer::ended(CURLcode result) {
  const std::scoped_lock lock(mutex_);
  result_ = result;
  changed_.notify_all();
}

void CurlTransfer::note_sent(curl_off_t sent) {
  const std::scoped_lock lock(mutex_);
  if (sent != sent_) {
    sent_ = sent;
    last_byte_ = Clock::now();
  }
  // The body may be a mapped file, which would be in memory as a whole at the end.
  constexpr std::size_t kPiece = std::size_t{4} << 20U;
  for (; exchange_.is_large && static_cast<std::size_t>(sent) >= released_ + kPiece; released_ += kPiece) {
    release_pages(exchange_.body.substr(std::min(released_, exchange_.body.size()), kPiece));
  }
}

void CurlTransfer::received(std::size_t bytes) {
  last_byte_ = Clock::now();
  window_start_ = window_start_.value_or(last_byte_);
  window_bytes_ += bytes;
  context_.progress->received(bytes);
}

bool CurlTransfer::take_header(std::string_view line) {
  const std::scoped_lock lock(mutex_);
  received(line.size());
  header_bytes_ += line.size();
  if (header_bytes_ > kHeaderLimit) {
    stop_ = ExchangeFailure{.code = Code::bad_response,
                            .reason = fmt::format("its headers are larger than {} KiB", kHeaderLimit >> 10U),
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
    most_ahead_ = line.substr(0, 6) == "HTTP/2" ? kMostAheadOfOthers : kMostAhead;
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
    begins_ = true;
    length_ = length;
    changed_.notify_all();
  }
  return true;
}

bool CurlTransfer::too_large() {
  stop_ = ExchangeFailure{.code = Code::limit_exceeded,
                          .reason = fmt::format("the response is larger than {} bytes", exchange_.body_limit),
                          .is_final = true};
  return false;
}

// Returns a result for CURLOPT_WRITEFUNCTION.
std::size_t CurlTransfer::take_body(std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  if (!is_success()) {
    const std::size_t room = kErrorBodyLimit - response_.body.size();
    response_.body += bytes.substr(0, room);
    is_enough_ = bytes.size() > room;
    received(bytes.size());
    return is_enough_ ? 0 : bytes.size();
  }
  if (bytes.size() > exchange_.body_limit - body_bytes_) {
    return too_large() ? bytes.size() : 0;
  }
  if (exchange_.sink == nullptr) {
    response_.body += bytes;
  } else if (arrived_.size() + bytes.size() > most_ahead_ && !arrived_.empty()) {
    is_paused_ = true;
    return CURL_WRITEFUNC_PAUSE;
  } else {
    arrived_ += bytes;
    changed_.notify_all();
  }
  body_bytes_ += bytes.size();
  received(bytes.size());
  return bytes.size();
}

void CurlTransfer::drive(TransferLoop& loop) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!is_cancelled_ && (begins_ || !arrived_.empty())) {
      feed(lock, loop);
    } else if (result_) {
      return;
    } else if (is_cancelled_) {
      changed_.wait(lock, [this] { return result_.has_value(); });
    } else if (const auto end = next_end(loop)) {
      changed_.wait_until(lock, context_.stop, *end, [this] { return result_ || begins_ || !arrived_.empty(); });
    } else {
      cancel(loop);
    }
  }
}

void CurlTransfer::feed(std::unique_lock<std::mutex>& lock, TransferLoop& loop) {
  const bool begins = std::exchange(begins_, false);
  std::string bytes = std::exchange(arrived_, std::move(taken_));
  const bool was_paused = std::exchange(is_paused_, false);
  lock.unlock();
  auto fed = without_exceptions("the download", [&]() -> Result<void> {
    MODLOCK_TRY(begins ? exchange_.sink->begin(length_) : Result<void>());
    return bytes.empty() ? Result<void>() : exchange_.sink->write(bytes);
  });
  bytes.clear();
  lock.lock();
  taken_ = std::move(bytes);
  if (!fed) {
    stop_ = std::move(fed.error());
    cancel(loop);
  } else if (was_paused) {
    // The server did not cause the pause.
    last_byte_ = Clock::now();
    window_start_ = last_byte_;
    window_bytes_ = 0;
    loop.resume(*this);
  }
}

void CurlTransfer::cancel(TransferLoop& loop) {
  is_cancelled_ = true;
  if (!result_) {
    loop.cancel(*this);
  }
}

// Returns when the next timeout may end the transfer; nullopt if it has ended, with the reason in stop_.
std::optional<TransferLoop::Clock::time_point> CurlTransfer::next_end(const TransferLoop& loop) {
  if (const auto going = context_.check(); !going) {
    const Error& error = going.error();
    stop_ = ExchangeFailure{.code = error.code, .reason = error.message, .hint = error.hint, .is_final = true};
    return std::nullopt;
  }
  const HttpTimeouts& timeouts = exchange_.timeouts;
  const auto now = Clock::now();
  auto end = std::min(now + kLongestSleep, context_.deadline.value_or(now + kLongestSleep));
  const auto ends = [&](Clock::time_point at, const std::string& reason, std::string_view hint) {
    if (now >= at && !stop_) {
      stop_ = ExchangeFailure{.code = Code::timeout, .reason = reason, .hint = hint};
    }
    end = std::min(end, at);
  };
  constexpr std::string_view kIsSlow = "try again later; the server or the network is slow";
  const auto begun = begun_ ? *begun_ : loop.connecting_since(*this);
  if (begun_) {
    ends(last_byte_ + timeouts.idle, fmt::format("the server was silent for {}", duration_text(timeouts.idle)),
         kIsSlow);
  } else {
    ends(begun + timeouts.connect, "no connection within " + duration_text(timeouts.connect),
         "check the address, and the network and proxy settings of this machine");
    end = std::min(end, now + timeouts.idle);
  }
  if (timeouts.least_rate > 0) {
    const auto window = static_cast<std::size_t>(timeouts.rate_window.count());
    if (window_start_ && window_bytes_ < timeouts.least_rate * window / 1000) {
      ends(*window_start_ + timeouts.rate_window,
           fmt::format("the response arrived at less than {} bytes per second for {}", timeouts.least_rate,
                       duration_text(timeouts.rate_window)),
           kIsSlow);
    } else {
      if (window_start_ && now >= *window_start_ + timeouts.rate_window) {
        window_start_ = now;
        window_bytes_ = 0;
      }
      end = std::min(end, window_start_.value_or(now) + timeouts.rate_window);
    }
  }
  if (timeouts.total) {
    ends(begun + *timeouts.total,
         fmt::format("the response was not complete within {}", duration_text(*timeouts.total)), kIsSlow);
  }
  return stop_ ? std::nullopt : std::optional(end);
}

}  // namespace modlock::http
