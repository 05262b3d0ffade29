#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"
#include "backends/oci/authorizer.h"
#include "backends/oci/manifest.h"
#include "backends/oci/reference.h"
#include "protocol/base/result.h"

namespace modlock::oci {

// A manifest as it was received.
struct Manifest {
  std::string digest;        // of the bytes: "sha256:…" or "sha512:…"
  std::string content_type;  // as the registry sent it
  std::string body;
};

// All tags of a repository.
struct TagListing {
  std::vector<std::string> names;                    // each once, in the order of the registry
  std::chrono::system_clock::time_point fetched_at;  // when the oldest page came, kept or not
};

// The requests of the OCI distribution specification that are needed to pull and push module packages. Each is sent at
// most twice: first without authorization or with the known one, and again after a challenge. Thread-safe. The URL of a
// redirect or of the next page is checked as an archive at that URL (redirect_policy.h) before the request is sent.
// Errors of every call: those of HttpClient::send() and expect_success(), AUTH_REQUIRED and FORBIDDEN with the places
// where credentials were looked for, those of Credentials::find(), and BAD_RESPONSE of the token service.
class Registry {
 public:
  Registry(HttpClient& http, Credentials& credentials, std::vector<std::string> token_realms = {})
      : http_(http), credentials_(credentials), authorizer_(http, credentials, std::move(token_realms)) {}

  // Returns all tags; the registry may split them into pages, also on other hosts. NOT_FOUND: the repository was not
  // found. BAD_RESPONSE: not JSON of that shape, or a loop of pages. LIMIT_EXCEEDED: more than 200,000 tags.
  Result<TagListing> tags(const Repository& repository, const Context& context);

  // Returns the digest of a tag now, with one HEAD, and a GET if that has no status 200 with a digest. Errors: those of
  // manifest(); BAD_RESPONSE if the registry reports an invalid digest; SOURCE_UNSUPPORTED if it is neither SHA-256 nor
  // SHA-512.
  Result<std::string> digest_of(const Repository& repository, const std::string& tag, const Context& context);

  // Returns the manifest of a tag or a digest, with one GET. Errors: NOT_FOUND naming it; HASH_MISMATCH if the bytes do
  // not match the requested digest or the one that the registry names; LIMIT_EXCEEDED (OpenTofu's limit of 4 MiB).
  Result<Manifest> manifest(const Repository& repository, const Reference& reference, const Context& context);

  // Returns whether the repository has a manifest under this tag or digest, and its digest; nullopt: it has none. One
  // HEAD.
  Result<std::optional<std::string>> find_manifest(const Repository& repository, const std::string& reference,
                                                   const Context& context);
  // Returns whether the repository has a blob, before or after an upload. One HEAD.
  Result<bool> has_blob(const Repository& repository, const std::string& digest, const Context& context);

  // Uploads a blob, if the repository lacks it: a HEAD, then upload_blob(), a POST and a PUT. `content` has this
  // digest. Returns whether it was added. `mount_from` is the name of a repository of the same registry that may have
  // the blob, or empty: the registry can then take it from there, so that nothing is sent. Errors: BAD_RESPONSE if the
  // registry names no place for the upload, or one that is not https.
  Result<bool> push_blob(const Repository& repository, const std::string& digest, std::string_view content,
                         const Context& context, const std::string& mount_from = {});
  // The same without a HEAD. An upload that is interrupted is continued if the registry reports how much it has, else
  // started again, together at most twice.
  Result<void> upload_blob(const Repository& repository, const std::string& digest, std::string_view content,
                           const Context& context, const std::string& mount_from = {});
  // Uploads a manifest or an index under a tag or digest, with a PUT, and a HEAD that shows that it is stored. Returns
  // false if the registry lacks what it names (MANIFEST_BLOB_UNKNOWN). Errors: HASH_MISMATCH if the registry reports
  // another digest; BAD_RESPONSE if it confirms the upload but does not have the manifest.
  Result<bool> push_manifest(const Repository& repository, const std::string& reference, std::string_view media_type,
                             const std::string& body, const Context& context);

  // Downloads a blob into a sink, which on success has received the blob of the descriptor. `what` names it in
  // messages: "the module package". Errors: NOT_FOUND; HASH_MISMATCH (the size or digest differs from the descriptor);
  // those of the sink. Registries redirect blobs to other hosts, which receive no secrets.
  Result<void> blob(const Repository& repository, const Layer& layer, std::string_view what, BodySink& sink,
                    const Context& context);

 private:
  Result<HttpResponse> send(const Repository& repository, HttpRequest request, const Context& context);
  Result<HttpResponse> send_elsewhere(HttpRequest request, const Context& context);
  Result<HttpResponse> expect(Result<HttpResponse> response, const HttpRequest& request, const Repository& repository,
                              std::string_view missing, const Context& context);
  // An upload that was begun.
  struct Upload {
    std::string url;
    bool keeps_secrets = false;
    std::size_t offset = 0;  // the number of bytes that the registry has
  };
  // Returns how much of an interrupted upload the registry has; nullopt: it must be started again.
  std::optional<Upload> find_progress(const Repository& repository, const Upload& upload, std::size_t size,
                                      const Context& context);
  Result<HttpResponse> begin_upload(const Repository& repository, HttpRequest request, const std::string& digest,
                                    const std::string& mount_from, const Context& context);

  HttpClient& http_;
  Credentials& credentials_;
  Authorizer authorizer_;
};

}  // namespace modlock::oci
