#include "backends/oci/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "backends/base/digest.h"
#include "backends/http/retrying_http_client.h"
#include "backends/http/url.h"
#include "backends/oci/tag_pages.h"
#include "protocol/base/json.h"

namespace modlock::oci {
namespace {

tl::unexpected<Error> not_as_described(std::string_view what, std::string_view expected, std::string_view found) {
  return fail(Code::hash_mismatch,
              fmt::format("{} does not match its manifest: expected {}, found {}", what, expected, found),
              "do not use this package: the registry or a proxy altered its content");
}

// Checks an arriving blob against its descriptor: an extra byte ends the transfer. Errors: HASH_MISMATCH (different
// size or digest); those of the sink that receives the bytes. `what` names the blob in messages.
class BlobCheck final : public BodySink {
 public:
  BlobCheck(BodySink& sink, const Layer& layer, std::string what)
      : sink_(sink), layer_(layer), what_(std::move(what)), hash_(digest_algorithm(layer.digest)) {}

  Result<void> begin(std::optional<std::uint64_t> length) override {
    if (length && *length != layer_.size) {
      return wrong_size(std::to_string(*length));
    }
    size_ = 0;
    (void)hash_.finish();
    return sink_.begin(length);
  }

  Result<void> write(std::string_view bytes) override {
    size_ += bytes.size();
    hash_.update(bytes);
    return size_ > layer_.size ? wrong_size("more") : sink_.write(bytes);
  }

  // Call once everything has arrived.
  Result<void> finish() {
    if (size_ != layer_.size) {
      return wrong_size(std::to_string(size_));
    }
    const std::string digest = digest_text(digest_algorithm(layer_.digest), hash_.finish());
    return digest == layer_.digest ? Result<void>() : not_as_described(what_, layer_.digest, digest);
  }

 private:
  tl::unexpected<Error> wrong_size(std::string_view found) const {
    return not_as_described(what_, fmt::format("{} bytes", layer_.size), found);
  }

  BodySink& sink_;
  const Layer& layer_;
  std::string what_;
  std::uint64_t size_ = 0;
  RunningHash hash_;
};

// The Accept header of oras-go, so that a registry serves the same as to OpenTofu: an index must be received to be
// rejected.
constexpr std::string_view kManifestTypes =
    "application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json, "
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, "
    "application/vnd.oci.artifact.manifest.v1+json";
// OpenTofu's limit of 4 MiB is an integer division: just under 5 MiB pass.
constexpr std::size_t kManifestLimit = (std::size_t{5} << 20U) - 1;
constexpr std::uint64_t kLargeBlob = std::uint64_t{4} << 20U;
constexpr std::size_t kSlowestUpload = std::size_t{64} << 10U;  // bytes per second
constexpr std::size_t kPageLimit = std::size_t{16} << 20U;

// Returns the code of an error body of the distribution specification; empty if there is none.
std::string error_code(std::string_view body) {
  const auto json = parse_json(body);
  if (!json || !json->isObject() || !(*json)["errors"].isArray() || (*json)["errors"].empty()) {
    return {};
  }
  return string_member((*json)["errors"][0], "code").value_or("");
}

HttpRequest manifest_request(const Repository& repository, const std::string& reference, std::string_view purpose) {
  HttpRequest request;
  request.url = SecretText(repository.url("manifests/" + reference));
  request.purpose = fmt::format("{} \"{}\" of \"{}\"", purpose, reference, repository.display);
  request.headers = {{"Accept", std::string(kManifestTypes)}};
  request.body_limit = kManifestLimit;
  request.timeouts.total = kSmallAnswerTime;
  return request;
}

// Returns the digest that the registry reports for the manifest; empty if it reports none.
Result<std::string> named_digest(const HttpResponse& response, const Repository& repository,
                                 const std::string& reference) {
  const std::string digest = response.header("Docker-Content-Digest").value_or("");
  const std::string what = fmt::format("\"{}\" of \"{}\"", reference, repository.display);
  if (!digest.empty()) {
    MODLOCK_TRY(check_digest(digest, "manifest " + what,
                             {.code = Code::bad_response,
                              .message = fmt::format("the registry reports no valid digest of {}", what),
                              .hint = "ask the registry's operator: its header Docker-Content-Digest is malformed"}));
  }
  return digest;
}

// A registry on the loopback must not lead to plain http on another machine.
Result<void> check_scheme(std::string_view url) {
  const auto parts = http::split_url(url);
  return !parts || parts->scheme == "https" || http::is_loopback(parts->host)
             ? Result<void>()
             : fail(Code::bad_response,
                    fmt::format("{} uses plain http, which is only for the loopback", printable_url(url)),
                    "contact the operator of the registry");
}

Result<Source> source_on_loopback(std::string_view url) {
  MODLOCK_TRY(check_scheme(url));
  return archive_source(url);
}

}  // namespace

Result<HttpResponse> Registry::send(const Repository& repository, HttpRequest request, const Context& context) {
  if (repository.plain_http) {
    request.redirected_source = source_on_loopback;
  }
  const SecretText expected = authorizer_.expected(repository, context);
  if (!expected.empty()) {
    request.secret_headers = {{"Authorization", expected}};
  }
  auto response = http_.send(request, context);
  if (!response || response->status != 401) {
    return response;
  }
  const auto challenge = answerable_challenge(*response);
  // A redirect went to another host, for which the registry's credentials are not meant.
  const auto back = follow_redirect(request.url.reveal(), 307, response->url.reveal(), false);
  if (!challenge || !back || !back->keeps_secrets) {
    return response;
  }
  MODLOCK_TRY(const auto authorization, authorizer_.answer(repository, *challenge, expected, context));
  if (!authorization) {
    return response;
  }
  request.secret_headers = {{"Authorization", *authorization}};
  return http_.send(request, context);
}

Result<HttpResponse> Registry::send_elsewhere(HttpRequest request, const Context& context) {
  if (auto allowed = check_url_allowed(request.url.reveal(), context); !allowed) {
    Error error = std::move(allowed.error());
    error.message = fmt::format("could not {}: the registry names {}: {}", request.purpose,
                                printable_url(request.url.reveal()), error.message);
    return fail(std::move(error));
  }
  return http_.send(request, context);
}

Result<HttpResponse> Registry::expect(Result<HttpResponse> response, const HttpRequest& request,
                                      const Repository& repository, std::string_view missing, const Context& context) {
  const bool is_missing = response && (response->status == 404 || response->status == 410);
  const std::string code = is_missing ? error_code(response->body) : std::string();
  auto checked = expect_success(std::move(response), request);
  if (checked) {
    return checked;
  }
  Error error = std::move(checked.error());
  if (is_missing) {
    error.notes.insert(error.notes.begin(), error.message);
    error.message = code == "NAME_UNKNOWN" || missing.empty()
                        ? fmt::format("repository \"{}\" not found", repository.display)
                        : fmt::format("\"{}\" has no {}", repository.display, missing);
    error.hint =
        "check the spelling, and whether it was deleted; some registries also report this if credentials are missing";
  }
  if (error.code == Code::auth_required || error.code == Code::forbidden) {
    error = explain_refusal(std::move(error), {CredentialUse::oci, repository.host, repository.name}, credentials_,
                            context);
    if (repository.host == "docker.io") {
      error.hint =
          "OpenTofu sends no credentials to docker.io: write oci://registry-1.docker.io/ and configure "
          "credentials for that host";
    }
  }
  return fail(std::move(error));
}

Result<TagListing> Registry::tags(const Repository& repository, const Context& context) {
  HttpRequest request;
  request.purpose = fmt::format("list the tags of \"{}\"", repository.display);
  request.headers = {{"Accept", "application/json"}};
  request.body_limit = kPageLimit;
  request.timeouts.total = kSmallAnswerTime;
  request.keep = true;
  TagPages pages(repository.url("tags/list"), repository.display);
  while (const auto next = pages.next()) {
    request.url = SecretText(next->url);
    MODLOCK_TRY(auto page,
                expect(next->same_origin ? send(repository, request, context) : send_elsewhere(request, context),
                       request, repository, {}, context));
    MODLOCK_TRY(pages.take(page));
  }
  return TagListing{pages.tags(), pages.fetched_at()};
}

Result<std::string> Registry::digest_of(const Repository& repository, const std::string& tag, const Context& context) {
  HttpRequest request = manifest_request(repository, tag, "find the manifest");
  request.method = HttpRequest::Method::head;
  MODLOCK_TRY(const auto response, send(repository, request, context));
  if (response.status == 200) {
    auto digest = named_digest(response, repository, tag);
    if (!digest || !digest->empty()) {
      return digest;
    }
  }
  // Some registries and proxies refuse HEAD, or answer it without a digest.
  return manifest(repository, {.tag = tag, .digest = {}}, context).map([](Manifest found) {
    return std::move(found.digest);
  });
}

Result<Manifest> Registry::manifest(const Repository& repository, const Reference& reference, const Context& context) {
  const std::string& text = reference.text();
  const HttpRequest request = manifest_request(repository, text, "get the manifest");
  const auto missing = fmt::format("{} \"{}\"", reference.digest.empty() ? "tag" : "manifest", text);
  MODLOCK_TRY(auto response, expect(send(repository, request, context), request, repository, missing, context));
  MODLOCK_TRY(const auto named, named_digest(response, repository, text));
  std::string digest;  // the requested one, else the registry's, else with the canonical algorithm
  for (const std::string& expected : {reference.digest, named}) {
    const Hash algorithm = digest_algorithm(expected);
    const std::string found = digest_text(algorithm, hash_of(algorithm, response.body));
    digest = digest.empty() ? found : digest;
    if (!expected.empty() && expected != found) {
      return fail(Code::hash_mismatch,
                  fmt::format("manifest content does not match digest: \"{}\" of \"{}\": expected {}, got {}", text,
                              repository.display, expected, found),
                  "do not use this package: the registry or a proxy altered its content");
    }
  }
  return Manifest{std::move(digest), response.header("Content-Type").value_or(""), std::move(response.body)};
}

Result<std::optional<std::string>> Registry::find_manifest(const Repository& repository, const std::string& reference,
                                                           const Context& context) {
  HttpRequest request = manifest_request(repository, reference, "find the manifest");
  request.method = HttpRequest::Method::head;
  auto response = send(repository, request, context);
  if (response && response->status == 404) {
    return std::nullopt;
  }
  MODLOCK_TRY(const auto found, expect(std::move(response), request, repository, {}, context));
  MODLOCK_TRY(auto digest, named_digest(found, repository, reference));
  return std::optional(std::move(digest));
}

Result<bool> Registry::has_blob(const Repository& repository, const std::string& digest, const Context& context) {
  HttpRequest request;
  request.purpose = fmt::format("upload {} to \"{}\"", digest, repository.display);
  request.timeouts.total = kSmallAnswerTime;
  request.method = HttpRequest::Method::head;
  request.url = SecretText(repository.url("blobs/" + digest));
  auto response = send(repository, request, context);
  if (response && (response->status == 200 || response->status == 404)) {
    return response->status == 200;
  }
  MODLOCK_TRY(expect(std::move(response), request, repository, {}, context));
  return false;
}

Result<bool> Registry::push_blob(const Repository& repository, const std::string& digest, std::string_view content,
                                 const Context& context, const std::string& mount_from) {
  MODLOCK_TRY(const bool is_present, has_blob(repository, digest, context));
  if (!is_present) {
    MODLOCK_TRY(upload_blob(repository, digest, content, context, mount_from));
  }
  return !is_present;
}

// Sends the POST of an upload. A registry that refuses to take the blob from another repository, for example because
// the credentials are not for that one, gets a second POST without it.
Result<HttpResponse> Registry::begin_upload(const Repository& repository, HttpRequest request,
                                            const std::string& digest, const std::string& mount_from,
                                            const Context& context) {
  const std::string url = repository.url("blobs/uploads/");
  if (!mount_from.empty()) {
    request.url = SecretText(fmt::format("{}?mount={}&from={}", url, digest, mount_from));
    auto mounted = send(repository, request, context);
    const bool is_final = mounted ? mounted->status == 201 || mounted->status == 202
                                  : is_retryable(mounted.error().code) || !context.check();
    if (is_final) {
      return mounted;
    }
  }
  request.url = SecretText(url);
  return expect(send(repository, request, context), request, repository, {}, context);
}

std::optional<Registry::Upload> Registry::find_progress(const Repository& repository, const Upload& upload,
                                                        std::size_t size, const Context& context) {
  HttpRequest request;
  request.purpose = fmt::format("continue an upload to \"{}\"", repository.display);
  request.url = SecretText(upload.url);
  request.timeouts.total = kSmallAnswerTime;
  request.redirects = 0;
  request.retries = 0;
  const auto response = upload.keeps_secrets ? send(repository, request, context) : send_elsewhere(request, context);
  constexpr std::string_view kStart = "0-";
  const std::string range = response && response->status == 204 ? response->header("Range").value_or("") : "";
  std::size_t last = 0;
  const auto [end, error] =
      std::from_chars(range.data() + std::min(range.size(), kStart.size()), range.data() + range.size(), last);
  // Some registries report "0-0" if they have nothing.
  if (!range.starts_with(kStart) || error != std::errc() || end != range.data() + range.size() || last == 0 ||
      last >= size) {
    return std::nullopt;
  }
  const auto place = follow_redirect(upload.url, 307, response->header("Location").value_or(upload.url), true);
  return place && check_scheme(place->url)
             ? std::optional(Upload{place->url, upload.keeps_secrets && place->keeps_secrets, last + 1})
             : std::nullopt;
}

Result<void> Registry::upload_blob(const Repository& repository, const std::string& digest, std::string_view content,
                                   const Context& context, const std::string& mount_from) {
  constexpr int kRestarts = 2;
  const RetryTiming timing = real_retry_timing();
  std::optional<Upload> upload;
  for (int attempt = 0;; ++attempt) {
    HttpRequest request;
    request.purpose = fmt::format("upload {} to \"{}\"", digest, repository.display);
    if (!upload) {
      request.method = HttpRequest::Method::post;
      request.timeouts.total = kSmallAnswerTime;
      const std::string from = attempt == 0 ? mount_from : "";
      MODLOCK_TRY(const auto begun, begin_upload(repository, request, digest, from, context));
      if (begun.status == 201 && !from.empty()) {
        return {};  // push_manifest() notices if the blob is not there
      }
      const auto place = follow_redirect(begun.url.reveal(), 307, begun.header("Location").value_or(""), true);
      if (!place) {
        return fail(Code::bad_response, fmt::format("could not {}: {}", request.purpose, place.error().message),
                    "contact the operator of the registry");
      }
      MODLOCK_TRY(check_scheme(place->url));
      upload = Upload{place->url, place->keeps_secrets};
    }
    request.method = HttpRequest::Method::put;
    request.url = SecretText(
        fmt::format("{}{}digest={}", upload->url, upload->url.find('?') == std::string::npos ? '?' : '&', digest));
    request.headers = {{"Content-Type", "application/octet-stream"}};
    request.large_body = content.substr(upload->offset);
    if (upload->offset > 0 && upload->offset < content.size()) {
      request.headers.push_back({"Content-Range", fmt::format("{}-{}", upload->offset, content.size() - 1)});
    }
    request.is_large = content.size() >= kLargeBlob;
    request.timeouts.total = std::nullopt;
    request.timeouts.idle = std::max<std::chrono::milliseconds>(request.timeouts.idle,
                                                                std::chrono::seconds(content.size() / kSlowestUpload));
    request.redirects = 0;
    request.retries = 0;  // the registry may have a part of the bytes
    auto response = upload->keeps_secrets ? send(repository, request, context) : send_elsewhere(request, context);
    if (upload->offset > 0 && response && response->status >= 400 && response->status < 500 && attempt < kRestarts) {
      upload.reset();  // it does not continue, or has other bytes
      continue;
    }
    Attempt made{.number = attempt};
    if (response) {
      made.status = response->status;
      made.retry_after =
          parse_retry_after(response->header("Retry-After").value_or(""), std::chrono::system_clock::now());
    } else {
      made.failure = response.error().code;
    }
    const auto delay = retry_delay(made, kRestarts, timing.jitter());
    if (!delay || (context.deadline && std::chrono::steady_clock::now() + *delay >= *context.deadline)) {
      MODLOCK_TRY(expect(std::move(response), request, repository, {}, context));
      return {};
    }
    timing.wait(*delay, context);
    MODLOCK_TRY(context.check());
    upload = find_progress(repository, *upload, content.size(), context);
  }
}

Result<bool> Registry::push_manifest(const Repository& repository, const std::string& reference,
                                     std::string_view media_type, const std::string& body, const Context& context) {
  HttpRequest request;
  request.purpose = fmt::format("upload the manifest \"{}\" to \"{}\"", reference, repository.display);
  request.method = HttpRequest::Method::put;
  request.url = SecretText(repository.url("manifests/" + reference));
  request.headers = {{"Content-Type", std::string(media_type)}};
  request.large_body = body;
  request.timeouts.total = kSmallAnswerTime;
  request.redirects = 0;
  auto response = send(repository, request, context);
  if (response && (response->status == 400 || response->status == 404) &&
      error_code(response->body) == "MANIFEST_BLOB_UNKNOWN") {
    return false;
  }
  MODLOCK_TRY(expect(std::move(response), request, repository, {}, context));
  MODLOCK_TRY(const auto stored, find_manifest(repository, reference, context));
  if (!stored) {
    return fail(Code::bad_response,
                fmt::format("could not {}: the registry confirmed it, but does not have it", request.purpose),
                "contact the operator of the registry");
  }
  const std::string expected = "sha256:" + sha256_hex(body);
  return stored->empty() || *stored == expected
             ? Result<bool>(true)
             : fail(Code::hash_mismatch,
                    fmt::format("could not {}: the registry has {} instead of {}", request.purpose, *stored, expected),
                    "contact the operator of the registry");
}

Result<void> Registry::blob(const Repository& repository, const Layer& layer, std::string_view what, BodySink& sink,
                            const Context& context) {
  const std::string blob_display = fmt::format("{} of \"{}\"", what, repository.display);
  BlobCheck check(sink, layer, blob_display);
  HttpRequest request;
  request.url = SecretText(repository.url("blobs/" + layer.digest));
  request.purpose = fmt::format("get {}", blob_display);
  request.body_limit = std::numeric_limits<std::size_t>::max();  // BlobCheck knows the size
  request.sink = &check;
  request.is_large = layer.size >= kLargeBlob;
  MODLOCK_TRY(expect(send(repository, request, context), request, repository, fmt::format("blob \"{}\"", layer.digest),
                     context));
  return check.finish();
}

}  // namespace modlock::oci
