#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"

namespace modlock {

// Serves module packages by http and https as OpenTofu's go-getter fetches them: archives, and URLs whose server says
// where the package is (X-Terraform-Get, <meta name="terraform-get">), which `others` then serve. All references
// outlive the backend; `others` may hold the backend itself.
//
// Ids are full hash texts: "zh:<sha256>" of an archive, and what the other backend's id_hash() gives where a server
// points elsewhere. Of a package that a server points to, the directory alone is kept that its address names, as
// OpenTofu does.
//
// list_versions: SOURCE_UNSUPPORTED; pin: NOT_FOUND; both without a request. An archive has neither.
// fetch: one request per archive, one more per hop (ten at most) and per list of checksums, with the credentials of
// CredentialUse::download for each host. An id that is requested is locked: an archive with another digest is a
// warning, for its tree has to prove itself; a commit has to come from where the server points now.
// Errors beside those of Backend: HASH_MISMATCH (`checksum`, or a locked commit that cannot come from there),
// SOURCE_INVALID (`checksum`), SOURCE_UNSUPPORTED (one compressed file; a source that nobody serves), SOURCE_DENIED
// (Context::check_source of every hop and redirect), CONFIG_PARSE (netrc), and those of unpack_archive().
std::unique_ptr<BackendCore> make_archive_backend(HttpClient& http, Credentials& credentials, const BackendSet& others);

}  // namespace modlock
