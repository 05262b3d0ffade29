#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "backends/base/digest.h"
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

// The address of an archive as go-getter reads it (client.go and get_http.go). Pure.
struct ArchiveRequest {
  // The URL to request: without `archive` and `checksum`, the other arguments sorted, the host in ASCII. Has
  // terraform-get=1 if the server has to state the location of the package.
  SecretText url = {};
  std::string host = {};                     // Source::host: whose credentials are sent
  std::optional<ArchiveFormat> format = {};  // none: the server states the location of the package
  std::string checksum = {};                 // the argument's value; empty: none
  bool has_user = false;                     // the URL names a user, so no credentials are looked up
};

// `archive=` names the format. With "false" or any unknown text the URL is not an archive. Without the argument the end
// of the path decides. Errors: SOURCE_UNSUPPORTED (one compressed file); SOURCE_INVALID (not a URL, or a checksum for a
// URL that is not an archive).
Result<ArchiveRequest> read_request(const SourceAddress& address);

// Returns the first non-empty content of <meta name="terraform-get" content="…"> before </head> or <body>. Reads the
// page as OpenTofu does, as lax XML (encoding/xml of Go): the search ends at a malformed tag, such as "<" in a script.
std::optional<std::string> meta_source(std::string_view page);

// Returns the location of the package from the response to a request with terraform-get=1: the X-Terraform-Get header,
// else meta_source() of the page. The location must be a full address, "scheme://…" or "getter::…": OpenTofu accepts
// neither relative addresses nor shorthands here. Pure. `display` names the request.
// Errors: BAD_RESPONSE (no location, or not a full address); SOURCE_UNSUPPORTED (`oci`, which OpenTofu does not follow
// from here); other errors of parse_source().
Result<SourceAddress> read_terraform_get(const HttpResponse& response, std::string_view display);

}  // namespace modlock::archive
