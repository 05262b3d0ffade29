#pragma once

#include <chrono>
#include <functional>
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

// The requests of the OCI distribution specification that pulling a module takes. Each is sent at most twice: without
// or with the authorization that is known, and once more after a challenge. Thread-safe.
// Where a redirect or a page leads is checked as the archive at that URL (redirect_policy.h), before it is asked.
// Errors of every call: those of HttpClient::send() and expect_success(), AUTH_REQUIRED and FORBIDDEN with the places
// where credentials were looked for, those of Credentials::find(), and BAD_RESPONSE of the token service.
class Registry {
 public:
  Registry(HttpClient& http, Credentials& credentials, std::vector<std::string> token_realms = {})
      : http_(http), credentials_(credentials), authorizer_(http, credentials, std::move(token_realms)) {}

  // All tags, which the registry may give in pages, of other hosts too. NOT_FOUND: no such repository.
  // BAD_RESPONSE: no JSON of that shape, or pages without an end. LIMIT_EXCEEDED: more than 200,000 tags.
  Result<TagListing> tags(const Repository& repository, const Context& context);

  // What a tag names now, by one HEAD. Errors: NOT_FOUND naming the tag; BAD_RESPONSE where the registry does not say
  // the digest; SOURCE_UNSUPPORTED for one that is neither SHA-256 nor SHA-512.
  Result<std::string> digest_of(const Repository& repository, const std::string& tag, const Context& context);

  // The manifest of a tag or a digest, by one GET. Errors: NOT_FOUND naming it; HASH_MISMATCH where the bytes are not
  // those of the digest that was asked for or that the registry names; LIMIT_EXCEEDED (OpenTofu's limit of 4 MiB).
  Result<Manifest> manifest(const Repository& repository, const Reference& reference, const Context& context);

  // Brings a blob into a sink that says its digest ("sha256:…") once everything is there; checked, so that what the
  // sink holds is the blob of the descriptor. `what` names it in messages: "the module package". Errors: NOT_FOUND;
  // HASH_MISMATCH (another size or digest than the descriptor's); those of the sink. Registries redirect to other hosts
  // for blobs; nothing secret goes there.
  using Digest = std::function<Result<std::string>()>;
  Result<void> blob(const Repository& repository, const Layer& layer, std::string_view what, BodySink& sink,
                    const Digest& digest, const Context& context);

 private:
  Result<HttpResponse> send(const Repository& repository, HttpRequest request, const Context& context);
  Result<HttpResponse> send_elsewhere(HttpRequest request, const Context& context);
  Result<HttpResponse> expect(Result<HttpResponse> response, const HttpRequest& request, const Repository& repository,
                              std::string_view missing, const Context& context);

  HttpClient& http_;
  Credentials& credentials_;
  Authorizer authorizer_;
};

}  // namespace modlock::oci
