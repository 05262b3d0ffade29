#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/source.h"
#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

struct HttpHeader {
  std::string name;
  std::string value;
};

// Where the body of a successful response goes while it arrives.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // Called before the first byte of each attempt: what an earlier attempt wrote is void. `length`: Content-Length of
  // the decoded body, where it is known.
  virtual Result<void> begin(std::optional<std::uint64_t> length) = 0;
  // The next bytes. An error ends the transfer and becomes that of send().
  virtual Result<void> write(std::string_view bytes) = 0;
};

// How long one attempt may take. A black hole ends by `connect`, a server that falls silent by `idle`, a slow drip by
// `least_rate` or `total`; the deadline of the context ends everything.
struct HttpTimeouts {
  std::chrono::milliseconds connect{10'000};  // name, TCP and TLS
  std::chrono::milliseconds idle{30'000};     // without one byte
  // What the answer, from its first header on, brings at least over each whole `rate_window`; 0: no matter how little.
  std::size_t least_rate = 1024;  // bytes a second
  std::chrono::milliseconds rate_window{30'000};
  std::optional<std::chrono::milliseconds> total = {};
};

// The `total` of answers that are small: everything but packages and listings without a bound.
inline constexpr std::chrono::seconds kSmallAnswerTime{60};

// One request, with what may be done on its behalf.
struct HttpRequest {
  enum class Method { get, head, post };
  Method method = Method::get;
  // Absolute, http or https, as a URL may be written on the wire. User-info in it is sent as Basic authorization.
  SecretText url = {};
  // What it is for, in errors: `list the versions of "registry.opentofu.org/modules/a/b/c"`.
  std::string purpose = {};
  std::vector<HttpHeader> headers = {};  // none of them secret
  // Secret headers (Authorization, a git http.extraHeader): sent to the first URL's origin alone (redirect.h).
  std::vector<std::pair<std::string, SecretText>> secret_headers = {};
  std::string body = {};  // of a POST; its Content-Type is among `headers`
  // Of the body of a 2xx response, decoded, whether a sink takes it or not; more is LIMIT_EXCEEDED. Of other bodies the
  // first 64 KiB are kept.
  std::size_t body_limit = std::size_t{16} << 20U;
  BodySink* sink = nullptr;  // takes the body of a 2xx response instead of `body`
  HttpTimeouts timeouts = {};
  int redirects = 10;  // followed at most; 0: a 3xx is returned as it is
  // Judges every URL that a redirect leads to, before it is asked; printable form. Empty: any.
  std::function<Result<void>(std::string_view url)> check_redirect = {};
  bool keep = false;  // the answer is a listing, worth keeping with its validators (response_cache.h)
  int retries = 2;    // attempts after the first, where retry.h allows one
  // The answer has many megabytes: it comes over connections that no other request waits for.
  bool is_large = false;
};

// The last response of a request.
struct HttpResponse {
  int status = 0;
  std::vector<HttpHeader> headers = {};  // as received, names in their spelling, values without outer blanks
  std::string body = {};                 // empty where a sink took it
  // Where the body was kept from an earlier answer and nobody was asked whether it still holds: when that came.
  std::optional<std::chrono::system_clock::time_point> kept_since = {};
  SecretText url = {};  // that answered: relative references in headers and body start from it

  // The first header of that name, without regard to case; nullopt where there is none.
  std::optional<std::string> header(std::string_view name) const;
};

// The one way to speak HTTP. Thread-safe; connections are kept and reused across threads. Honours HTTPS_PROXY,
// HTTP_PROXY, ALL_PROXY, NO_PROXY (upper and lower case; never for the loopback, proxy.h), SSL_CERT_FILE and
// SSL_CERT_DIR (trusted_authorities.h). Accepts gzip and deflate.
// Never follows https to http, never sends a secret header, user-info or cookies to another host or port.
class HttpClient {
 public:
  virtual ~HttpClient() = default;

  // Sends, follows redirects, and tries again as retry.h says. Every attempt and every redirect counts as one request
  // in the stats, received bytes as bytes. The answer is the final response whatever its status: expect_success() makes
  // errors of those that are none.
  // Errors, all saying `could not <purpose>: <URL without query and user-info>: <reason>`:
  // UNREACHABLE (no such host, refused, reset, shorter than it said), TIMEOUT (any of HttpTimeouts), BAD_RESPONSE
  // (not HTTP, a length that is none, bad chunks or compression, a header block over 256 KiB, a redirect without or
  // with a bad Location, too many of them, https to http), TLS failures as UNREACHABLE naming the reason and how to
  // trust an authority, SOURCE_DENIED (check_redirect), LIMIT_EXCEEDED (body_limit), OFFLINE_MISS (the context is
  // offline: nothing is sent), DEADLINE_EXCEEDED, REQUEST_CANCELLED, SOURCE_INVALID (no URL of http or https), and
  // those of the sink.
  virtual Result<HttpResponse> send(const HttpRequest& request, const Context& context) = 0;
};

// The response where its status is 2xx (or, for 304, where the caller sent a validator and asks for it); else the error
// of its status: 401 AUTH_REQUIRED, 403 FORBIDDEN, 404 and 410 NOT_FOUND, 408 and 504 TIMEOUT, 429 RATE_LIMITED with
// retry_after, other 5xx UNREACHABLE with retry_after, everything else BAD_RESPONSE. Messages name purpose, URL and
// status; the first line of a short text or of a JSON error body is a note, scrubbed of control characters, unless the
// request held anything secret, which a server may give back.
Result<HttpResponse> expect_success(Result<HttpResponse> response, const HttpRequest& request);

// A URL as messages and policies may show it: scheme, host, port and path, without user-info, query and fragment,
// control characters escaped, not longer than a line.
std::string printable_url(std::string_view url);

// The absolute URL that a reference means where `base` is the URL it was found at (RFC 3986 section 5). nullopt where
// either is no URL, or the result has no host.
std::optional<std::string> resolve_url(std::string_view base, std::string_view reference);

}  // namespace modlock
