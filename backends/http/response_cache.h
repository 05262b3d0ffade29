#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/scrub.h"
#include "backends/http/http_client.h"

namespace modlock {

// A response worth asking about again: its body, the headers that say what it is, and the validators that let a server
// answer "not modified" (RFC 9110 section 8.8).
struct CachedResponse {
  std::string etag = {};           // empty: none
  std::string last_modified = {};  // empty: none
  std::vector<HttpHeader> headers = {};
  std::string body = {};
  std::chrono::system_clock::time_point fetched_at = {};
};

// Where responses are kept between runs. Thread-safe. Keeping is a favour: what cannot be written or read is as if it
// had never been there.
class ResponseCache {
 public:
  virtual ~ResponseCache() = default;
  virtual std::optional<CachedResponse> find(const SecretText& url) const = 0;
  virtual void keep(const SecretText& url, const CachedResponse& response) const = 0;
};

// `client`, that keeps the answers to requests which ask for it (HttpRequest::keep, GET without a sink): where one is
// kept, the server is asked whether it still holds, and 304 gives the kept body as a 200; offline the kept body is
// taken as it is, and what is not kept is OFFLINE_MISS. An answer that gives back one of `secrets` is not kept. All
// references outlive the client.
std::unique_ptr<HttpClient> make_caching_http_client(HttpClient& client, const ResponseCache& cache,
                                                     const KnownSecrets& secrets);

}  // namespace modlock
