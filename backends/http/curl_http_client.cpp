#include "backends/http/curl_http_client.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <future>
#include <mutex>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/deleter.h"
#include "backends/base/text.h"
#include "backends/http/certificate_store.h"
#include "backends/http/curl_transfer.h"
#include "backends/http/transfer_loop.h"
#include "backends/http/url.h"

namespace modlock::http {
namespace {

std::string variable(const char* upper, const char* lower) {
  for (const char* name : {upper, lower}) {
    const char* const value = name == nullptr ? nullptr : std::getenv(name);
    if (value != nullptr && *value != '\0') {
      return value;
    }
  }
  return {};
}

using Address = std::array<unsigned char, 16>;
constexpr std::size_t kMapped = 12;  // an IPv4 address follows ::ffff:

std::optional<Address> parse_address(const std::string& text) {
  Address address{};
  address[kMapped - 2] = address[kMapped - 1] = 0xFF;
  const bool is_valid = ::inet_pton(AF_INET, text.c_str(), &address[kMapped]) == 1 ||
                        ::inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
  return is_valid ? std::optional(address) : std::nullopt;
}

// Whether the address is in the block "<address>/<bits>"; nullopt: the text is no block.
std::optional<bool> is_in_block(const std::optional<Address>& address, const std::string& block) {
  const std::size_t slash = std::min(block.find('/'), block.size());
  const std::string start = block.substr(0, slash);
  const auto first = parse_address(start);
  std::size_t bits = 0;
  const char* const end = block.data() + block.size();
  const std::size_t offset = start.find(':') == std::string::npos ? kMapped * 8 : 0;
  if (!first || slash == block.size() ||
      std::from_chars(block.data() + slash + 1, end, bits) != std::from_chars_result{end, std::errc()} ||
      bits + offset > first->size() * 8) {
    return std::nullopt;
  }
  for (std::size_t i = 0; address && i < bits + offset; ++i) {
    if ((((*address)[i / 8] ^ (*first)[i / 8]) >> (7 - i % 8) & 1) != 0) {
      return false;
    }
  }
  return address.has_value();
}

// Whether an entry of NO_PROXY, in lower case, names the host and the port (golang.org/x/net/http/httpproxy). For git
// (Curl_check_noproxy() of libcurl 7.88) an entry has no port and no "*.", and ".x" names x too.
bool names_host(std::string entry, const std::string& host, int port, bool of_git) {
  const auto address = parse_address(host);
  if (const auto is_inside = is_in_block(address, entry)) {
    return *is_inside;
  }
  const std::size_t colon = entry.rfind(':');
  const bool is_bracketed = entry.starts_with('[');
  if (!of_git && colon != std::string::npos && (is_bracketed ? entry[colon - 1] == ']' : entry.find(':') == colon)) {
    if (entry.substr(colon + 1) != std::to_string(port) && colon + 1 != entry.size()) {
      return false;
    }
    entry = entry.substr(is_bracketed, colon - (is_bracketed ? 2 : 0));
  }
  if (const auto named = parse_address(entry)) {
    return named == address;
  }
  entry.erase(0, entry.starts_with(of_git ? "." : "*.") ? 1 : 0);
  return !entry.empty() && (host.ends_with(entry.starts_with('.') ? entry : "." + entry) || host == entry);
}

bool is_excepted(std::string_view entries, const UrlParts& parts, bool of_git) {
  const bool is_bracketed = parts.host.starts_with('[');
  const std::string host = parts.host.substr(is_bracketed, parts.host.size() - (is_bracketed ? 2 : 0));
  for (const std::string_view listed : split(entries, ',')) {
    const std::string_view entry = trimmed(listed);
    if (entry == "*" || (!entry.empty() && names_host(ascii::lower(entry), host, parts.port, of_git))) {
      return true;
    }
  }
  return false;
}

}  // namespace

ProxySettings ProxySettings::from_environment() {
  const bool is_cgi = std::getenv("REQUEST_METHOD") != nullptr;
  return {.https = variable("HTTPS_PROXY", "https_proxy"),
          .http = variable(is_cgi ? nullptr : "HTTP_PROXY", "http_proxy"),
          .none = variable("NO_PROXY", "no_proxy")};
}

ProxySettings ProxySettings::of_git() {
  const auto first_set = [](const char* lower, const char* upper) {
    const char* const value = std::getenv(lower);
    return std::string(value != nullptr ? value : upper == nullptr ? "" : variable(upper, nullptr));
  };
  return {.https = first_set("https_proxy", "HTTPS_PROXY"),
          .http = first_set("http_proxy", nullptr),
          .none = first_set("no_proxy", "NO_PROXY"),
          .is_of_git = true};
}

std::string ProxySettings::proxy_for(std::string_view url) const {
  const auto parts = split_url(url);
  if (!parts || (!is_of_git && is_loopback(parts->host)) || is_excepted(none, *parts, is_of_git)) {
    return {};
  }
  return parts->scheme == "https" ? https : http;
}

}  // namespace modlock::http

namespace modlock {
namespace {

constexpr long kReceiveBuffer = 256L << 10U;  // with libcurl's 16 KiB, a large package needs many system calls
using EasyHandle = std::unique_ptr<CURL, Deleter<curl_easy_cleanup>>;
using HeaderList = std::unique_ptr<curl_slist, Deleter<curl_slist_free_all>>;

// libcurl treats "Name:" as a request to omit its own header; "Name;" sends an empty one.
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

// The data that transfers share in addition to the connections of their loop: names and TLS sessions.
class Share {
 public:
  Share() {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
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
    handle_.reset(curl_share_init());
    curl_share_setopt(handle_.get(), CURLSHOPT_LOCKFUNC, lock);
    curl_share_setopt(handle_.get(), CURLSHOPT_UNLOCKFUNC, unlock);
    curl_share_setopt(handle_.get(), CURLSHOPT_USERDATA, this);
    curl_share_setopt(handle_.get(), CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    curl_share_setopt(handle_.get(), CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  }
  CURLSH* handle() const { return handle_.get(); }

 private:
  std::array<std::mutex, CURL_LOCK_DATA_LAST> locks_;
  std::unique_ptr<CURLSH, Deleter<curl_share_cleanup>> handle_;
};

class CurlTransport final : public Transport {
 public:
  CurlTransport(std::string user_agent, std::size_t connections_per_host)
      : user_agent_(std::move(user_agent)), loop_(connections_per_host), large_loop_(connections_per_host) {}

  ExchangeResult exchange(const Exchange& exchange, const Context& context) override {
    if (const auto going = context.check(); !going) {
      return failure(going.error());
    }
    // Deferred until the first request: loading libcurl and its dependencies takes longer than many a run without
    // network access.
    std::call_once(is_open_, [this] { share_ = std::make_unique<Share>(); });
    const auto parts = http::split_url(exchange.url.reveal());
    const EasyHandle easy(parts && share_->handle() != nullptr ? curl_easy_init() : nullptr);
    if (easy == nullptr) {
      return failure(Error{.code = Code::internal, .message = "libcurl is not ready"});
    }
    const std::string proxy = (exchange.is_of_git ? git_proxies_ : proxies_).proxy_for(exchange.url.reveal());
    const HeaderList headers = header_list(exchange);
    const bool is_secure = parts->scheme == "https";
    set_options(easy.get(), exchange, headers.get(), proxy);
    // Further transfers wait until the first connection over TLS shows whether it can serve them too; without TLS this
    // would not be known before the first response. A large transfer does not benefit from sharing its connection.
    const bool multiplexes = is_secure && !exchange.is_large;
    curl_easy_setopt(easy.get(), CURLOPT_HTTP_VERSION,
                     static_cast<long>(multiplexes ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy.get(), CURLOPT_PIPEWAIT, multiplexes ? 1L : 0L);
    const bool needs_trust = is_secure || proxy.substr(0, 6) == "https:";
    if (needs_trust && !set_trust(easy.get())) {
      return failure(Error{.code = Code::internal, .message = "this libcurl does not use OpenSSL"});
    }
    const std::string shown = proxy.find("://") == std::string::npos ? "http://" + proxy : proxy;
    auto answer = http::CurlTransfer(exchange, context, http::origin_of(*parts), easy.get())
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
  // one connects. Returns false if the trusted certificates cannot be set in libcurl.
  bool set_trust(CURL* easy) {
    // Without a thread, the first connection reads them.
    constexpr auto kIfPossible = std::launch::async | std::launch::deferred;
    std::call_once(reading_, [this] {
      authorities_ = std::async(kIfPossible, [this] { return http::read_authorities(places_); }).share();
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
    const auto set = [easy](CURLoption option, auto value) { curl_easy_setopt(easy, option, value); };
    set(CURLOPT_SHARE, share_->handle());
    set(CURLOPT_URL, exchange.url.reveal().c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_BUFFERSIZE, kReceiveBuffer);
    set(CURLOPT_QUICK_EXIT, 1L);  // a deadline does not wait for a name server
    set(CURLOPT_PATH_AS_IS, 1L);  // signed URLs must not be changed
    set(CURLOPT_ACCEPT_ENCODING, exchange.decodes ? "gzip, deflate" : nullptr);
    set(CURLOPT_USERAGENT, user_agent_.c_str());
    set(CURLOPT_HTTPHEADER, headers);
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_PROXY, proxy.c_str());  // never null: libcurl would read the environment itself
    set(CURLOPT_NOPROXY, "");           // already considered
    if (exchange.method == HttpRequest::Method::head) {
      set(CURLOPT_NOBODY, 1L);
    } else if (exchange.method != HttpRequest::Method::get) {
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(exchange.body.size()));
      set(CURLOPT_POSTFIELDS, exchange.body.data());
    }
    if (exchange.method == HttpRequest::Method::put) {
      set(CURLOPT_CUSTOMREQUEST, "PUT");
      // libcurl 7.88 can stall when it uploads several bodies over one HTTP/2 connection.
      set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    }
  }

  std::string user_agent_;
  http::ProxySettings proxies_ = http::ProxySettings::from_environment();
  http::ProxySettings git_proxies_ = http::ProxySettings::of_git();
  http::AuthorityPlaces places_ = http::AuthorityPlaces::from_environment();
  std::once_flag reading_;
  std::shared_future<Result<std::unique_ptr<const CertificateStore>>> authorities_;
  std::once_flag is_open_;
  std::unique_ptr<Share> share_;
  http::TransferLoop loop_;  // destroyed before the data that their transfers share
  http::TransferLoop large_loop_;
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
