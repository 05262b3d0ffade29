#pragma once

#include <json/value.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/source.h"
#include "backends/base/context.h"
#include "protocol/base/error.h"
#include "protocol/base/result.h"

namespace modlock {

struct HttpHeader {
  std::string name;
  std::string value;
};

// Receives the body of a successful response while it arrives.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // Called before the first byte of each attempt; the bytes of an earlier attempt are void. `length`: Content-Length of
  // the decoded body, if it is known.
  virtual Result<void> begin(std::optional<std::uint64_t> length) = 0;
  // Receives the next bytes. An error ends the transfer and becomes the error of send().
  virtual Result<void> write(std::string_view bytes) = 0;
};

// The time limits of one attempt, or of all together. `connect` stops an unreachable host, `idle` a silent server, and
// `least_rate` or `total` a slow one; the deadline of the context ends everything.
struct HttpTimeouts {
  std::chrono::milliseconds connect{10'000};  // name, TCP and TLS
  std::chrono::milliseconds idle{30'000};     // without one byte
  // Minimum rate of the response, from its first header on, over each whole `rate_window`; 0: no minimum.
  std::size_t least_rate = 1024;  // bytes a second
  std::chrono::milliseconds rate_window{30'000};
  std::optional<std::chrono::milliseconds> total = {};
  // `total` limits all attempts together, and nothing is sent again after a limit: one silence is all that is waited
  // for.
  bool include_retries = false;

  // Limits for which a server may be silent so long, in all attempts together.
  static HttpTimeouts of_silence(std::chrono::milliseconds idle) {
    HttpTimeouts times{.idle = idle, .rate_window = idle, .include_retries = true};
    times.connect = std::min(times.connect, idle);
    return times;
  }
};

// The `total` of small responses: all except packages and listings of unlimited size.
inline constexpr std::chrono::seconds kSmallAnswerTime{60};

struct HttpRequest {
  enum class Method { get, head, post, put };
  Method method = Method::get;
  // Absolute, http or https, in the form that is sent over the network. User-info in it is sent as Basic authorization.
  SecretText url = {};
  // The purpose in errors: `list the versions of "registry.opentofu.org/modules/a/b/c"`.
  std::string purpose = {};
  std::vector<HttpHeader> headers = {};  // none of them secret
  // If-None-Match and If-Modified-Since of an earlier response: sent only to the address that it came from.
  std::vector<HttpHeader> validators = {};
  std::string validated_address = {};  // validator_scope() of that response
  // Secret headers (Authorization, a git http.extraHeader): sent only to the origin of the first URL (redirect.h).
  std::vector<std::pair<std::string, SecretText>> secret_headers = {};
  std::string body = {};             // of a POST or PUT; its Content-Type is among `headers`
  std::string_view large_body = {};  // the same without a copy; outlives the call
  // Maximum size of the decoded body of a 2xx response, with or without a sink; a larger body is LIMIT_EXCEEDED. Of
  // other bodies the first 64 KiB are kept.
  std::size_t body_limit = std::size_t{16} << 20U;
  BodySink* sink = nullptr;  // receives the body of a 2xx response; HttpResponse::body is then empty
  HttpTimeouts timeouts = {};
  int redirects = 10;  // maximum number; 0: a 3xx is returned unchanged
  // Returns the source as which Context::check_source checks the URL of a redirect, or why it must not be followed.
  // Empty: an archive (archive_source()).
  std::function<Result<Source>(std::string_view url)> redirected_source = {};
  bool keep = false;  // the response is a listing, to be cached with its validators (response_cache.h)
  int retries = 2;    // attempts after the first, if retry_delay() allows them
  // The response has many megabytes; it uses connections that no other request waits for.
  bool is_large = false;
  bool is_of_git = false;  // its proxy is the one that git would use
  bool decodes = true;     // false: a Content-Encoding is part of the content
};

// The last response of a request.
struct HttpResponse {
  int status = 0;
  std::vector<HttpHeader> headers = {};  // as received, names as spelled by the server, values without outer blanks
  std::string body = {};                 // empty if a sink received it
  // When the body was fetched, if it is a cached response that was not revalidated.
  std::optional<std::chrono::system_clock::time_point> kept_since = {};
  SecretText url = {};  // of this response: the base of relative references in headers and body

  // Returns the first header of that name, regardless of case; nullopt if there is none.
  std::optional<std::string> header(std::string_view name) const;
};

// The only way to send HTTP requests. Thread-safe; connections are kept and reused across threads. Honors HTTPS_PROXY,
// HTTP_PROXY, NO_PROXY (upper and lower case; never for the loopback, ProxySettings), SSL_CERT_FILE and
// SSL_CERT_DIR (certificate_store.h). Accepts gzip and deflate. Never follows a redirect from https to http, and
// never sends a secret header, user-info or cookies to another host or port.
class HttpClient {
 public:
  virtual ~HttpClient() = default;

  // Sends the request, follows redirects, and retries as retry_delay() specifies. Every attempt and every redirect
  // counts as one request in the stats, and received bytes as bytes. Returns the final response regardless of its
  // status; expect_success() turns an unsuccessful one into an error.
  //
  // Errors, all of the form `could not <purpose>: <URL without query and user-info>: <reason>`: UNREACHABLE (unknown
  // host, refused, reset, truncated body), TIMEOUT (any of HttpTimeouts), BAD_RESPONSE (not HTTP, an invalid
  // Content-Length, bad chunks or compression, a header block over 256 KiB, a redirect without or with a bad Location,
  // too many redirects, https to http), TLS failures as UNREACHABLE naming the reason and how to trust an authority,
  // SOURCE_DENIED (Context::check_source), LIMIT_EXCEEDED (body_limit), OFFLINE_MISS (the context is offline: nothing
  // is sent), DEADLINE_EXCEEDED, REQUEST_CANCELLED, SOURCE_INVALID (not a URL of http or https), and those of the sink.
  virtual Result<HttpResponse> send(const HttpRequest& request, const Context& context) = 0;
};

// Returns the response if its status is 2xx (or 304, if validators were sent to its address); else the error of its
// status: 401 AUTH_REQUIRED, 403 FORBIDDEN, 404 and 410 NOT_FOUND, 408 and 504 TIMEOUT, 429 RATE_LIMITED with
// retry_after, other 5xx UNREACHABLE with retry_after, everything else BAD_RESPONSE. Messages name purpose, URL and
// status. The first line of a short text or of a JSON error body is a note without control characters, unless the
// request contained a secret, which a server may return.
Result<HttpResponse> expect_success(Result<HttpResponse> response, const HttpRequest& request);

// Returns an id of the address that a response with validators came from: scheme, host, port and path, without
// user-info and query, which differ each time that an address is signed.
std::string validator_scope(std::string_view url);

// Returns the part of a URL that messages and policies may show: scheme, host, port and path, without user-info, query
// and fragment, with escaped control characters, not longer than a line.
std::string printable_url(std::string_view url);

// Resolves a reference against `base`, the URL it was found at, to an absolute URL (RFC 3986 section 5). nullopt if
// either is not a URL, or if the result has no host.
std::optional<std::string> resolve_url(std::string_view base, std::string_view reference);

// Returns whether a response is a web page for people.
bool is_html(std::string_view body);

// Returns the first object or list of a text: Go's json.Decoder reads no further. Any other text is returned whole.
std::string_view first_json_text(std::string_view body);

// Like parse_json, for a server's response. Errors: BAD_RESPONSE (not JSON, or ambiguous; an HTML page is named as such
// with a hint, other errors have none), LIMIT_EXCEEDED (too many values). The message completes a sentence after a
// colon.
Result<Json::Value> parse_json_body(std::string_view body);

}  // namespace modlock

namespace modlock::http {

// Returns the media type of a Content-Type, without its parameters, in lower case.
std::string media_type(std::string_view content_type);

// "30 s", "1500 ms".
std::string duration_text(std::chrono::milliseconds duration);

}  // namespace modlock::http
