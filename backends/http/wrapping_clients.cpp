#include "backends/http/wrapping_clients.h"

#include <algorithm>

#include "backends/address/go_url.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"

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

// If there is no password, the name is the token.
void add_pair(std::string_view name, std::string_view password, KnownSecrets& secrets) {
  secrets.add(password.empty() ? name : password);
}

// The value is "Bearer <token>", "Basic <pair>", or any other header that the user has set.
void add_header(std::string_view value, KnownSecrets& secrets) {
  const std::size_t blank = value.find(' ');
  if (blank == std::string_view::npos) {
    secrets.add(value);
    return;
  }
  const std::string_view credentials = value.substr(std::min(value.find_first_not_of(' ', blank), value.size()));
  secrets.add(credentials);
  if (ascii::equals_ignoring_case(value.substr(0, blank), "Basic")) {
    if (const auto pair = decode_base64(credentials)) {
      const std::size_t colon = std::min(pair->find(':'), pair->size());
      add_pair(std::string_view(*pair).substr(0, colon),
               std::string_view(*pair).substr(std::min(colon + 1, pair->size())), secrets);
    }
  }
}

class SecretRecordingClient final : public HttpClient {
 public:
  SecretRecordingClient(HttpClient& client, KnownSecrets& secrets) : client_(client), secrets_(secrets) {}

  Result<HttpResponse> send(const HttpRequest& request, const Context& context) override {
    for (const auto& header : request.secret_headers) {
      add_header(header.second.reveal(), secrets_);
    }
    if (const auto url = GoUrl::parse(request.url.reveal()); url && url->user) {
      add_pair(url->user->name, url->user->password.value_or(""), secrets_);
    }
    if (request.body.find("refresh_token=") != std::string::npos) {
      for (const auto& [name, value] : parse_query(request.body)) {
        if (name == "refresh_token") {
          secrets_.add(value);
        }
      }
    }
    ScrubbingLog log(*context.log, secrets_);
    Context scrubbed = context;
    scrubbed.log = &log;
    return client_.send(request, scrubbed);
  }

 private:
  HttpClient& client_;
  KnownSecrets& secrets_;
};

}  // namespace

std::unique_ptr<HttpClient> make_caching_http_client(HttpClient& client, const ResponseCache& cache,
                                                     const KnownSecrets& secrets) {
  return std::make_unique<CachingHttpClient>(client, cache, secrets);
}

std::unique_ptr<HttpClient> make_secret_recording_client(HttpClient& client, KnownSecrets& secrets) {
  return std::make_unique<SecretRecordingClient>(client, secrets);
}

}  // namespace modlock
