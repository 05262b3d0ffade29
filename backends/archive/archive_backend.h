#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"

namespace modlock {

// Fetches module packages over http and https as OpenTofu's go-getter does. It serves archives itself. If the server of
// a URL states another location (X-Terraform-Get, <meta name="terraform-get">), `others` serves that location. All
// references outlive the backend; `others` may contain the backend itself.
//
// Ids are full hash texts: "zh:<sha256>" for an archive, the other backend's id_hash() for a redirected source. As in
// OpenTofu, only the directory that its address names is kept of a package that a server points to.
//
// list_versions fails with SOURCE_UNSUPPORTED and pin with NOT_FOUND, both without a request: archives have no versions
// and no references.
// fetch sends one request per archive, one per hop (at most ten) and one per checksum file, with the credentials of
// CredentialUse::download for each host. A requested id is a locked id. An archive with another digest is a warning,
// because the caller still verifies its tree. A commit must come from where the server points now.
//
// With SourceKind::s3 or gcs it serves objects of S3 or of Google Cloud Storage in the same way, and directories of
// objects with one request for each page of a list and for each object. The id of a directory is "zh:<sha256>" of the
// list of its files. Requests are signed with CredentialUse::s3, if there is a key, or carry the token of
// CredentialUse::gcs, only to storage.googleapis.com. No redirect is followed. An object that changes between list
// and download is BAD_RESPONSE, an endless list LIMIT_EXCEEDED, and a key that leaves the directory ARCHIVE_UNSAFE.
//
// Errors in addition to those of Backend: HASH_MISMATCH (`checksum`, or a locked commit that cannot come from there),
// SOURCE_INVALID (`checksum`), SOURCE_UNSUPPORTED (one compressed file; an unsupported kind of source), SOURCE_DENIED
// (Context::check_source of every hop and redirect), CONFIG_PARSE (netrc), and those of unpack_archive().
std::unique_ptr<BackendCore> make_archive_backend(HttpClient& http, Credentials& credentials, const BackendSet& others,
                                                  SourceKind kind = SourceKind::archive);

}  // namespace modlock
