#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"

namespace modlock {

// Serves modules in OCI registries (`oci://`) as OpenTofu does. An id is the digest of an image manifest, "sha256:…"
// or "sha512:…", which fixes the digest of the package in turn. Both references outlive the backend.
//
// list_versions: a tag names a version with an optional `v`, and with "_" for "+", which tags cannot hold. Digests are
// asked for only where two tags name one version; every other version has no id. One request per page of the listing.
// pin: one HEAD, none for `?digest=`. fetch: two HTTP requests per fetch request, manifest and package, and once per
// repository those for a token. A request with an id is fetched by that digest, a locked one too: whatever a tag gives
// now, the bytes can only be those that were locked, and unlike a commit of a fork they are served by the repository
// that was named. So TAG_MOVED is not found out here. Errors beside those of Backend: SOURCE_INVALID (read_address()),
// SOURCE_UNSUPPORTED (no module package; a digest other than SHA-256 and SHA-512), HASH_MISMATCH (bytes that are not
// those of a digest), LIMIT_EXCEEDED, ARCHIVE_UNSAFE, CONFIG_PARSE.
// `token_realms`: as Authorizer has them.
std::unique_ptr<BackendCore> make_oci_backend(HttpClient& http, Credentials& credentials,
                                              std::vector<std::string> token_realms = {});

}  // namespace modlock
