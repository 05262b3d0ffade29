#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/address/scrub.h"
#include "backends/http/http_client.h"

namespace modlock {

// A response that can be revalidated: its body, the headers that describe it, and the validators that let a server
// respond "not modified" (RFC 9110 section 8.8).
struct CachedResponse {
  std::string etag = {};           // empty: none
  std::string last_modified = {};  // empty: none
  std::vector<HttpHeader> headers = {};
  std::string body = {};
  std::chrono::system_clock::time_point fetched_at = {};
};

// Keeps responses between runs. Thread-safe. Responses that cannot be written or read are treated as absent.
class ResponseCache {
 public:
  virtual ~ResponseCache() = default;
  virtual std::optional<CachedResponse> find(const SecretText& url) const = 0;
  virtual void keep(const SecretText& url, const CachedResponse& response) const = 0;
};

// Returns `client` with a cache for requests that use one (HttpRequest::keep, GET without a sink). If a response is
// cached, the server is asked to revalidate it, and a 304 returns the cached body as a 200. Offline, the cached body is
// returned unchecked, and a missing one is OFFLINE_MISS. A response that contains one of `secrets` is not cached. All
// references outlive the client.
std::unique_ptr<HttpClient> make_caching_http_client(HttpClient& client, const ResponseCache& cache,
                                                     const KnownSecrets& secrets);

// Returns `client`, which adds the secrets of each request to `secrets`: its secret headers (of Authorization the token
// or the password), the user-info of its URL, and the refresh token in its body.
// The lines that it logs are free of them. Both references outlive it.
std::unique_ptr<HttpClient> make_secret_recording_client(HttpClient& client, KnownSecrets& secrets);

}  // namespace modlock
