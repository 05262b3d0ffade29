#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"

namespace modlock {

// Serves modules in OCI registries (`oci://`) as OpenTofu does. An id is the digest of an image manifest, "sha256:…" or
// "sha512:…", which in turn fixes the digest of the package. Both references outlive the backend.
//
// list_versions: a tag is a version with an optional `v`, and with "_" for "+", which tags cannot contain. Digests are
// requested only if two tags name the same version; all other versions have no id. One request per page of the listing.
// pin: one HEAD, none for `?digest=`. fetch: two HTTP requests per fetch request (manifest and package), plus the
// requests for a token once per repository. A request with an id is fetched by that digest, even if it is locked: the
// digest guarantees the locked bytes regardless of the tag, and unlike the commit of a fork they are served by the
// named repository. Therefore fetch never reports TAG_MOVED.
//
// Errors in addition to those of Backend: SOURCE_INVALID (read_address()), SOURCE_UNSUPPORTED (not a module package; a
// digest other than SHA-256 and SHA-512), HASH_MISMATCH (the bytes do not match a digest), LIMIT_EXCEEDED,
// ARCHIVE_UNSAFE, CONFIG_PARSE.
//
// `token_realms`: as for Authorizer.
std::unique_ptr<BackendCore> make_oci_backend(HttpClient& http, Credentials& credentials,
                                              std::vector<std::string> token_realms = {});

}  // namespace modlock
