#include "backends/http/response_cache.h"

#include <algorithm>

namespace modlock {
namespace {

// The headers that a reader of a listing may need in addition to the body.
constexpr std::string_view kKeptHeaders[] = {"Content-Type", "Link"};
constexpr std::size_t kLargestBody = std::size_t{4} << 20U;

CachedResponse kept_of(const HttpResponse& response, std::chrono::system_clock::time_point now) {
  CachedResponse kept{.etag = response.header("ETag").value_or(""),
                      .last_modified = response.header("Last-Modified").value_or(""),
                      .headers = {},
                      .body = response.body,
                      .fetched_at = now};
  for (const std::string_view name : kKeptHeaders) {
    if (auto value = response.header(name)) {
      kept.headers.push_back({std::string(name), std::move(*value)});
    }
  }
  return kept;
}

HttpResponse restored(CachedResponse kept, const SecretText& url) {
  return {.status = 200, .headers = std::move(kept.headers), .body = std::move(kept.body), .url = url};
}

// A redirected response belongs to another URL, which its relative references are based on.
bool is_worth_keeping(const HttpResponse& response, const HttpRequest& request) {
  return response.status == 200 && response.url == request.url && response.body.size() <= kLargestBody &&
         (response.header("ETag") || response.header("Last-Modified"));
}

bool holds(const CachedResponse& kept, const Secrets& secrets) {
  return secrets.are_in(kept.body) || secrets.are_in(kept.etag) || secrets.are_in(kept.last_modified) ||
         std::ranges::any_of(kept.headers,
                             [&secrets](const HttpHeader& header) { return secrets.are_in(header.value); });
}

class CachingHttpClient final : public HttpClient {
 public:
  CachingHttpClient(HttpClient& client, const ResponseCache& cache, const KnownSecrets& secrets)
      : client_(client), cache_(cache), secrets_(secrets) {}

  Result<HttpResponse> send(const HttpRequest& request, const Context& context) override {
    const bool keeps = request.keep && request.method == HttpRequest::Method::get && request.sink == nullptr;
    return keeps ? send_kept(request, context) : client_.send(request, context);
  }

 private:
  Result<HttpResponse> send_kept(HttpRequest request, const Context& context) {
    std::optional<CachedResponse> kept = cache_.find(request.url);
    if (kept && context.offline) {
      context.count_cache_hit();
      const auto since = kept->fetched_at;
      HttpResponse response = restored(std::move(*kept), request.url);
      response.kept_since = since;
      return response;
    }
    if (kept && !kept->etag.empty()) {
      request.validators.push_back({"If-None-Match", kept->etag});
    }
    if (kept && !kept->last_modified.empty()) {
      request.validators.push_back({"If-Modified-Since", kept->last_modified});
    }
    request.validated_address = validator_scope(request.url.reveal());
    auto response = client_.send(request, context);
    if (response && kept && response->status == 304 && response->url == request.url) {
      context.count_cache_hit();
      return restored(std::move(*kept), request.url);
    }
    if (response && is_worth_keeping(*response, request)) {
      const CachedResponse kept_now = kept_of(*response, std::chrono::system_clock::now());
      if (!holds(kept_now, secrets_.all())) {
        cache_.keep(request.url, kept_now);
      }
    }
    return response;
  }

  HttpClient& client_;
  const ResponseCache& cache_;
  const KnownSecrets& secrets_;
};

}  // namespace

std::unique_ptr<HttpClient> make_caching_http_client(HttpClient& client, const ResponseCache& cache,
                                                     const KnownSecrets& secrets) {
  return std::make_unique<CachingHttpClient>(client, cache, secrets);
}

}  // namespace modlock
