#include "backends/http/curl_http_client.h"

#include <curl/curl.h>

#include <future>
#include <mutex>

#include "backends/base/deleter.h"
#include "backends/http/curl_handles.h"
#include "backends/http/curl_transfer.h"
#include "backends/http/proxy.h"
#include "backends/http/retrying_http_client.h"
#include "backends/http/trusted_authorities.h"
#include "backends/http/url.h"

namespace modlock {
namespace {

constexpr long kReceiveBuffer = 256L << 10U;  // a large package is many system calls with libcurl's 16 KiB

using HeaderList = std::unique_ptr<curl_slist, Deleter<curl_slist_free_all>>;

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

class CurlTransport final : public Transport {
 public:
  CurlTransport(std::string user_agent, std::size_t connections_per_host)
      : user_agent_(std::move(user_agent)), pool_(connections_per_host) {}

  ExchangeResult exchange(const Exchange& exchange, const Context& context) override {
    const auto parts = http::split_url(exchange.url.reveal());
    const auto handle = parts ? pool_.acquire(http::origin_of(*parts), context) : nullptr;
    if (const auto going = context.check(); handle == nullptr && !going) {
      const Error& error = going.error();
      return failure({.code = error.code, .reason = error.message, .hint = error.hint, .is_final = true});
    }
    if (handle == nullptr) {
      return failure({.code = Code::internal, .reason = "libcurl is not ready", .is_final = true});
    }
    const std::string proxy = proxies_.proxy_for(exchange.url.reveal());
    const HeaderList headers = header_list(exchange);
    set_options(handle->easy.get(), exchange, headers.get(), proxy);
    pool_.offer_spare_connection(handle->easy.get());
    const bool is_secure = parts->scheme == "https" || proxy.substr(0, 6) == "https:";
    if (is_secure && !set_trust(handle->easy.get())) {
      return failure({.code = Code::internal, .reason = "this libcurl does not use OpenSSL", .is_final = true});
    }
    const std::string shown = proxy.find("://") == std::string::npos ? "http://" + proxy : proxy;
    auto answer = http::CurlTransfer(exchange, context)
                      .run(*handle, parts->authority(), proxy.empty() ? proxy : printable_url(shown));
    if (!answer && is_secure && !authorities_.get()) {
      const Error& error = authorities_.get().error();
      return failure({.code = error.code, .reason = error.message, .hint = error.hint, .is_final = true});
    }
    return answer;
  }

 private:
  static ExchangeResult failure(ExchangeFailure why) { return tl::unexpected(std::move(why)); }

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
    const auto set = [easy](CURLoption option, auto value) { curl_easy_setopt(easy, option, value); };
    set(CURLOPT_URL, exchange.url.reveal().c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_BUFFERSIZE, kReceiveBuffer);
    set(CURLOPT_QUICK_EXIT, 1L);  // a deadline does not wait for a name server
    // A handle serves one request at a time, which leaves HTTP/2 nothing to gain.
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_PATH_AS_IS, 1L);  // signed URLs are signed as they are written
    set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    set(CURLOPT_USERAGENT, user_agent_.c_str());
    set(CURLOPT_HTTPHEADER, headers);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(exchange.timeouts.connect.count()));
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
  http::HandlePool pool_;
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
