#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/address/go_url.h"
#include "backends/address/source.h"
#include "backends/base/digest.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"
#include "backends/package/unpack.h"
#include "protocol/base/result.h"

namespace modlock::archive {

// The `checksum` argument of an archive (checksum.go of go-getter). Pure.
struct Checksum {
  Hash algorithm = Hash::sha256;
  std::string digits;  // lower-case hexadecimal

  std::string text() const;  // "sha256:8f2c…"
  bool operator==(const Checksum&) const = default;
};

// Reads "<type>:<hex>" with the types md5, sha1, sha256 and sha512, in any case, or only "<hex>", whose length
// determines the type. Errors: SOURCE_INVALID.
Result<Checksum> parse_checksum(std::string_view text);

// Finds the checksum of an archive in a checksum file: the first line that names the archive ("<hex>  <name>", "<hex>
// *<name>", "MD5 (<name>) = <hex>") or that has no name. The name is the file name of the archive, also with "*" or "?"
// before it, or its path, absolute or relative to the checksum file. Both paths are decoded URL paths.
std::optional<Checksum> find_checksum(std::string_view list, std::string_view archive_path, std::string_view list_path);

// The object, or the directory of objects, that an address of S3 or of Google Cloud Storage names (get_s3.go and
// get_gcs.go of go-getter). The XML API of the second is that of S3.
inline constexpr std::string_view kGoogleStorage = "https://storage.googleapis.com/";
struct StoredObject {
  std::string bucket;   // its URL: "https://bucket.s3.eu-west-1.amazonaws.com", "http://127.0.0.1:9000/bucket"
  std::string key;      // decoded; empty: the whole bucket
  std::string region;   // for which requests are signed
  std::string version;  // empty: the newest one. Of Google: a generation
  bool is_google = false;

  // Returns the URL of an object, or, without a key, of the bucket. It is escaped as signatures require.
  SecretText url(std::string_view of_key, const QueryArguments& query = {}) const;
};

// The address of an archive as go-getter reads it (client.go and get_http.go). Pure.
struct ArchiveRequest {
  // The URL to request: without `archive` and `checksum`, the other arguments sorted, the host in ASCII. Has
  // terraform-get=1 if the server has to state the location of the package.
  SecretText url = {};
  std::optional<CredentialQuery> credentials = {};  // none: the URL names a user, or the server gets none
  std::optional<ArchiveFormat> format = {};         // none: the server states the location of the package
  std::string checksum = {};                        // the argument's value; empty: none
  std::optional<StoredObject> object = {};          // of S3 or Google; without a format a directory of objects
};

// Returns the credentials of an archive; nullopt if its URL names a user.
std::optional<CredentialQuery> download_credentials(const SourceAddress& address, const GoUrl& url);

// `archive=` names the format. With "false" or any unknown text the URL is not an archive. Without the argument the end
// of the path decides. Errors: SOURCE_UNSUPPORTED (one compressed file); SOURCE_INVALID (not a URL, or a checksum for a
// URL that is not an archive; an archive of Google with a fragment that is no generation).
Result<ArchiveRequest> read_request(const SourceAddress& address);

// Returns the value of the first argument of that name, or empty.
std::string first_value(const QueryArguments& query, std::string_view key);

// Replaces the references of XML ("&amp;", "&#x26;"). Unknown ones are kept.
std::string unescape_xml(std::string_view value);

// Returns the first non-empty content of <meta name="terraform-get" content="…"> before </head> or <body>. Reads the
// page as OpenTofu does, as lax XML (encoding/xml of Go): the search ends at a malformed tag, such as "<" in a script.
std::optional<std::string> meta_source(std::string_view page);

// Returns the location of the package from the response to a request with terraform-get=1: the X-Terraform-Get header,
// else meta_source() of the page. The location must be a full address, "scheme://…" or "getter::…": OpenTofu accepts
// neither relative addresses nor shorthands here. Pure. `display` names the request.
// Errors: BAD_RESPONSE (no location, or not a full address); SOURCE_UNSUPPORTED (`oci`, which OpenTofu does not follow
// from here); other errors of parse_source().
Result<SourceAddress> read_terraform_get(const HttpResponse& response, std::string_view display);

// Unlike go-getter, reads "s3.REGION.amazonaws.com/BUCKET/KEY" and "BUCKET.s3.amazonaws.com/KEY" as AWS does. `display`
// names the address. Pure. Errors: SOURCE_INVALID.
Result<StoredObject> read_s3_object(const GoUrl& url, std::string_view display);

// Reads "https://NAME.googleapis.com/ANY/ANY/BUCKET/KEY#GENERATION" as go-getter does. The object is at
// storage.googleapis.com, or, as for the Go library of Google, at STORAGE_EMULATOR_HOST, which only the user's
// environment sets. A fragment is the generation of an archive; of a directory it is ignored. Errors: SOURCE_INVALID.
Result<StoredObject> read_gcs_object(const GoUrl& url, std::string_view display);

// Signs a GET request by AWS Signature Version 4. Headers that identify the user are secret.
void sign_request(HttpRequest& request, const AwsCredential& credential, std::string_view region,
                  std::chrono::system_clock::time_point now);

// A response to ListObjectsV2.
struct ObjectPage {
  std::vector<std::pair<std::string, std::string>> objects;  // key and state, which may be empty
  std::string next;                                          // the token of the next page; empty: it is the last one
};

// Reads the XML that servers of S3 write: elements without comments, CDATA or document types. `state` is the element
// that tells whether an object was replaced. The time is proportional to the size, also of a list that lies.
// Errors: BAD_RESPONSE; REQUEST_CANCELLED; DEADLINE_EXCEEDED.
Result<ObjectPage> read_object_page(std::string_view xml, std::string_view display, std::string_view state,
                                    const Context& context);

// Adds the error code and the region that the server states. An expired session token is AUTH_REQUIRED.
Error explain_s3_error(Error error, const HttpResponse& response);

}  // namespace modlock::archive
