#include "backends/http/curl_http_client.h"

#include <curl/curl.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stop_token>
#include <utility>

#include "backends/base/deleter.h"
#include "backends/http/curl_failure.h"
#include "backends/http/curl_handles.h"
#include "backends/http/curl_transfer.h"
#include "backends/http/proxy.h"
#include "backends/http/text.h"
#include "backends/http/transfer_loop.h"
#include "backends/http/trusted_authorities.h"
#include "backends/http/url.h"

namespace modlock {
namespace {

using http::TransferLoop;
using std::chrono::milliseconds;

constexpr long kReceiveBuffer = 256L << 10U;  // a large package is many system calls with libcurl's 16 KiB
constexpr std::size_t kHeaderLimit = std::size_t{256} << 10U;
// What may have arrived before a sink takes it; then the transfer pauses. With HTTP/2 that may hold up others on its
// connection, so it may be more than most packages have.
constexpr std::size_t kMostAhead = std::size_t{256} << 10U;
constexpr std::size_t kMostAheadOfOthers = std::size_t{1} << 20U;
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
  if ((encoding && !http::same_name(*encoding, "identity")) || response.header("Transfer-Encoding") || !text ||
      std::from_chars(text->data(), text->data() + text->size(), length).ec != std::errc()) {
    return std::nullopt;
  }
  return length;
}

using EasyHandle = std::unique_ptr<CURL, Free<curl::easy_cleanup>>;
using HeaderList = std::unique_ptr<curl_slist, Free<curl::slist_free_all>>;

// libcurl reads "Name:" as a request to leave its own header out; "Name;" sends an empty one.
HeaderList header_list(const Exchange& exchange) {
  HeaderList list;
  const auto append = [&](const std::string& line) {
    if (curl_slist* const longer = curl_slist_append(list.get(), line.c_str())) {
      static_cast<void>(list.release());
      list.reset(longer);
    }
  };
  append("Expect:");  // a server that does not know 100-continue would cost a second
  for (const auto& [name, value] : exchange.headers) {
    append(value.empty() ? name + ";" : name + ": " + value.reveal());
  }
  return list;
}

// What transfers know of each other beside the connections of their loop: names and TLS sessions.
class Share {
 public:
  Share() {
    if (curl::global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
      return;
    }
    using Lock = void (*)(CURL*, curl_lock_data, curl_lock_access, void*) noexcept;
    const Lock lock = [](CURL*, curl_lock_data data, curl_lock_access, void* self) noexcept {
      static_cast<Share*>(self)->locks_[data].lock();
    };
    using Unlock = void (*)(CURL*, curl_lock_data, void*) noexcept;
    const Unlock unlock = [](CURL*, curl_lock_data data, void* self) noexcept {
      static_cast<Share*>(self)->locks_[data].unlock();
    };
    handle_.reset(curl::share_init());
    curl::share_setopt(handle_.get(), CURLSHOPT_LOCKFUNC, lock);
    curl::share_setopt(handle_.get(), CURLSHOPT_UNLOCKFUNC, unlock);
    curl::share_setopt(handle_.get(), CURLSHOPT_USERDATA, this);
    curl::share_setopt(handle_.get(), CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    curl::share_setopt(handle_.get(), CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  }
  CURLSH* handle() const { return handle_.get(); }

 private:
  std::array<std::mutex, CURL_LOCK_DATA_LAST> locks_;
  std::unique_ptr<CURLSH, Free<curl::share_cleanup>> handle_;
};

// One exchange while it runs. The loop's thread takes what libcurl hands over; the thread that waits keeps the clocks,
// stops when told, and feeds the sink, so that a slow one holds up nobody else.
class CurlTransfer final : public TransferLoop::Transfer {
 public:
  CurlTransfer(const Exchange& exchange, const Context& context, std::string origin, CURL* easy)
      : Transfer(std::move(origin), easy), exchange_(exchange), context_(context) {
    set_callbacks();
  }

  // Runs to the end, and returns what became of it. `server` and `proxy` name the other side in errors.
  ExchangeResult run(TransferLoop& loop, std::string server, std::string proxy) {
    if (!loop.start(*this)) {
      result_ = CURLE_FAILED_INIT;
    } else {
      drive(loop);
    }
    curl_off_t received = 0;
    curl::easy_getinfo(easy(), CURLINFO_SIZE_DOWNLOAD_T, &received);
    if (context_.stats != nullptr && received > 0) {
      context_.stats->bytes += static_cast<std::uint64_t>(received);
    }
    if (stop_) {
      return tl::unexpected(std::move(*stop_));
    }
    if (result_ == CURLE_OK || is_enough_) {
      return std::move(response_);
    }
    return tl::unexpected(AbortReason(http::failure_of({.code = *result_,
                                                        .text = error_text_.data(),
                                                        .system_error = info(CURLINFO_OS_ERRNO),
                                                        .verify_result = info(CURLINFO_SSL_VERIFYRESULT),
                                                        .connect_status = info(CURLINFO_HTTP_CONNECTCODE),
                                                        .server = std::move(server),
                                                        .proxy = std::move(proxy)})));
  }

 private:
  using Clock = TransferLoop::Clock;
  using AbortReason = std::variant<ExchangeFailure, Error>;

  long info(CURLINFO what) const {
    long value = 0;
    curl::easy_getinfo(easy(), what, &value);
    return value;
  }
  bool is_success() const { return response_.status >= 200 && response_.status <= 299; }

  // The callbacks are called by C code, through which no exception may pass: noexcept ends the process instead.
  void set_callbacks() {
    const auto set = [this](CURLoption option, auto value) { curl::easy_setopt(easy(), option, value); };
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

  // On the loop's thread.

  void connected(Clock::time_point since) override {
    const std::scoped_lock lock(mutex_);
    begun_ = since;
    last_byte_ = Clock::now();
  }

  // It goes with the last line of this, or before: whoever waits may be gone as soon as the mutex is free.
  void ended(CURLcode result) override {
    const std::scoped_lock lock(mutex_);
    result_ = result;
    changed_.notify_all();
  }

  void note_sent(curl_off_t sent) {
    const std::scoped_lock lock(mutex_);
    if (sent != sent_) {
      sent_ = sent;
      last_byte_ = Clock::now();
    }
  }

  void received(std::size_t bytes) {
    last_byte_ = Clock::now();
    window_start_ = window_start_.value_or(last_byte_);
    window_bytes_ += bytes;
  }

  bool take_header(std::string_view line) {
    const std::scoped_lock lock(mutex_);
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

  bool end_of_headers() {
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

  bool too_large() {
    stop_ = ExchangeFailure{.code = Code::limit_exceeded,
                            .reason = fmt::format("the answer is over {} bytes", exchange_.body_limit),
                            .is_final = true};
    return false;
  }

  // As CURLOPT_WRITEFUNCTION returns.
  std::size_t take_body(std::string_view bytes) {
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

  // On the thread that waits.

  void drive(TransferLoop& loop) {
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

  void feed(std::unique_lock<std::mutex>& lock, TransferLoop& loop) {
    const bool begins = std::exchange(begins_, false);
    std::string bytes = std::exchange(arrived_, std::move(taken_));
    const bool was_paused = std::exchange(is_paused_, false);
    lock.unlock();
    auto fed = begins ? exchange_.sink->begin(length_) : Result<void>();
    if (fed && !bytes.empty()) {
      fed = exchange_.sink->write(bytes);
    }
    bytes.clear();
    lock.lock();
    taken_ = std::move(bytes);
    if (!fed) {
      stop_ = std::move(fed.error());
      cancel(loop);
    } else if (was_paused) {
      // The server could not help it.
      last_byte_ = Clock::now();
      window_start_ = last_byte_;
      window_bytes_ = 0;
      loop.resume(*this);
    }
  }

  void cancel(TransferLoop& loop) {
    is_cancelled_ = true;
    if (!result_) {
      loop.cancel(*this);
    }
  }

  // When a clock may end it next; nullopt where it is over, with the reason in stop_.
  std::optional<Clock::time_point> next_end(const TransferLoop& loop) {
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
        stop_ = ExchangeFailure{.code = Code::timeout, .reason = reason, .hint = std::string(hint)};
      }
      end = std::min(end, at);
    };
    constexpr std::string_view kIsSlow = "try again later; the server or the way to it is slow";
    const auto begun = begun_ ? *begun_ : loop.connecting_since(*this);
    if (begun_) {
      ends(last_byte_ + timeouts.idle, fmt::format("the server was silent for {}", http::duration_text(timeouts.idle)),
           kIsSlow);
    } else {
      ends(begun + timeouts.connect, "no connection within " + http::duration_text(timeouts.connect),
           "check the address, and the network and proxy settings of this machine");
      end = std::min(end, now + timeouts.idle);
    }
    if (timeouts.least_rate > 0) {
      const auto window = static_cast<std::size_t>(timeouts.rate_window.count());
      if (window_start_ && window_bytes_ < timeouts.least_rate * window / 1000) {
        ends(*window_start_ + timeouts.rate_window,
             fmt::format("the answer came at less than {} bytes a second for {}", timeouts.least_rate,
                         http::duration_text(timeouts.rate_window)),
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
           fmt::format("the answer was not complete within {}", http::duration_text(*timeouts.total)), kIsSlow);
    }
    return stop_ ? std::nullopt : std::optional(end);
  }

  const Exchange& exchange_;
  const Context& context_;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  std::string taken_;  // empty; keeps its memory for what arrives next

  std::mutex mutex_;  // for all that follows
  std::condition_variable_any changed_;
  std::optional<CURLcode> result_;  // where it has ended
  HttpResponse response_;
  std::optional<AbortReason> stop_;  // why we ended it
  bool is_enough_ = false;           // we ended it because the rest of the body is of no use
  bool is_cancelled_ = false;        // the sink gets nothing more
  bool in_body_ = false;
  bool begins_ = false;  // the sink is to be told, with this length
  std::optional<std::uint64_t> length_;
  std::string arrived_;  // for the sink
  std::size_t most_ahead_ = kMostAhead;
  bool is_paused_ = false;
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  curl_off_t sent_ = 0;
  std::size_t window_bytes_ = 0;                   // of the answer since window_start_
  std::optional<Clock::time_point> window_start_;  // none before the first header
  std::optional<Clock::time_point> begun_;         // none before the request is sent
  Clock::time_point last_byte_;                    // and since then, of the request or the answer
};

class CurlTransport final : public Transport {
 public:
  CurlTransport(std::string user_agent, std::size_t connections_per_host)
      : user_agent_(std::move(user_agent)), loop_(connections_per_host), large_loop_(connections_per_host) {}

  ExchangeResult exchange(const Exchange& exchange, const Context& context) override {
    if (const auto going = context.check(); !going) {
      return failure(going.error());
    }
    // With the first request: loading libcurl and all that it needs takes longer than many a run that asks nobody.
    std::call_once(is_open_, [this] { share_ = std::make_unique<Share>(); });
    const auto parts = http::split_url(exchange.url.reveal());
    const EasyHandle easy(parts && share_->handle() != nullptr ? curl::easy_init() : nullptr);
    if (easy == nullptr) {
      return failure(Error{.code = Code::internal, .message = "libcurl is not ready"});
    }
    const std::string proxy = proxies_.proxy_for(exchange.url.reveal());
    const HeaderList headers = header_list(exchange);
    const bool is_secure = parts->scheme == "https";
    set_options(easy.get(), exchange, headers.get(), proxy);
    // Further transfers wait for the first connection over TLS to tell whether it serves them too; without TLS nothing
    // would be told before the first answer. A large one gains nothing from others on its connection.
    const bool multiplexes = is_secure && !exchange.is_large;
    curl::easy_setopt(easy.get(), CURLOPT_HTTP_VERSION,
                      static_cast<long>(multiplexes ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    curl::easy_setopt(easy.get(), CURLOPT_PIPEWAIT, multiplexes ? 1L : 0L);
    const bool needs_trust = is_secure || proxy.substr(0, 6) == "https:";
    if (needs_trust && !set_trust(easy.get())) {
      return failure(Error{.code = Code::internal, .message = "this libcurl does not use OpenSSL"});
    }
    const std::string shown = proxy.find("://") == std::string::npos ? "http://" + proxy : proxy;
    auto answer = CurlTransfer(exchange, context, http::origin_of(*parts), easy.get())
                      .run(exchange.is_large ? large_loop_ : loop_, parts->authority(),
                           proxy.empty() ? proxy : printable_url(shown));
    if (!answer && needs_trust && !authorities_.get()) {
      return failure(authorities_.get().error());
    }
    return answer;
  }

 private:
  static ExchangeResult failure(const Error& error) {
    return tl::unexpected(
        ExchangeFailure{.code = error.code, .reason = error.message, .hint = error.hint, .is_final = true});
  }

  // libcurl itself would read hundreds of certificates for each connection. Here they are read once, while the first
  // one connects. False where libcurl cannot be told what to trust.
  bool set_trust(CURL* easy) {
    std::call_once(reading_, [this] {
      authorities_ = std::async(std::launch::async, [this] { return http::read_authorities(places_); }).share();
    });
    for (const CURLoption place : {CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH}) {
      curl_easy_setopt(easy, place, nullptr);
    }
    using Trust = CURLcode (*)(CURL*, void*, void*) noexcept;
    const Trust trust = [](CURL*, void* ssl_context, void* self) noexcept {
      const auto& authorities = static_cast<const CurlTransport*>(self)->authorities_.get();
      if (!authorities) {
        return CURLE_SSL_CACERT_BADFILE;
      }
      (*authorities)->be_trusted_by(ssl_context);
      return CURLE_OK;
    };
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, trust) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, this) == CURLE_OK;
  }

  void set_options(CURL* easy, const Exchange& exchange, curl_slist* headers, const std::string& proxy) const {
    const auto set = [easy](CURLoption option, auto value) { curl::easy_setopt(easy, option, value); };
    set(CURLOPT_SHARE, share_->handle());
    set(CURLOPT_URL, exchange.url.reveal().c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_BUFFERSIZE, kReceiveBuffer);
    set(CURLOPT_QUICK_EXIT, 1L);  // a deadline does not wait for a name server
    set(CURLOPT_PATH_AS_IS, 1L);  // signed URLs are signed as they are written
    set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    set(CURLOPT_USERAGENT, user_agent_.c_str());
    set(CURLOPT_HTTPHEADER, headers);
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_PROXY, proxy.c_str());  // never null: libcurl would look into the environment itself
    set(CURLOPT_NOPROXY, proxies_.none.c_str());
    if (exchange.method == HttpRequest::Method::head) {
      set(CURLOPT_NOBODY, 1L);
    } else if (exchange.method == HttpRequest::Method::post) {
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(exchange.body.size()));
      set(CURLOPT_POSTFIELDS, exchange.body.data());
    }
  }

  std::string user_agent_;
  http::ProxySettings proxies_ = http::ProxySettings::from_environment();
  http::AuthorityPlaces places_ = http::AuthorityPlaces::from_environment();
  std::once_flag reading_;
  std::shared_future<Result<std::unique_ptr<const CertificateStore>>> authorities_;
  std::once_flag is_open_;
  std::unique_ptr<Share> share_;
  TransferLoop loop_;  // end before what their transfers share
  TransferLoop large_loop_;
};

}  // namespace

std::unique_ptr<Transport> make_curl_transport(std::string user_agent, std::size_t connections_per_host) {
  return std::make_unique<CurlTransport>(std::move(user_agent), connections_per_host);
}

std::unique_ptr<HttpClient> make_curl_http_client(std::string user_agent, std::size_t connections_per_host) {
  return make_retrying_http_client(make_curl_transport(std::move(user_agent), connections_per_host),
                                   real_retry_timing());
}

}  // namespace modlock
