#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "backends/base/digest.h"
#include "backends/package/unpack.h"
#include "protocol/base/result.h"

namespace modlock::archive {

// What the `checksum` argument of an archive says (checksum.go of go-getter). Pure.
struct Checksum {
  Hash algorithm = Hash::sha256;
  std::string digits;  // lower-case hexadecimal

  std::string text() const;  // "sha256:8f2c…"
  bool operator==(const Checksum&) const = default;
};

// Reads "<type>:<hex>" with the types md5, sha1, sha256 and sha512, in any case, or "<hex>" alone, whose length tells
// the type. Errors: SOURCE_INVALID.
Result<Checksum> parse_checksum(std::string_view text);

// The checksum that a list of them has for an archive: of the first line that names it ("<hex>  <name>", "<hex>
// *<name>", "MD5 (<name>) = <hex>"), or that names nothing. The names of an archive are that of its file, with "*" or
// "?" before it too, and its path, absolute or relative to the list's. Both paths are those of URLs, decoded.
std::optional<Checksum> find_checksum(std::string_view list, std::string_view archive_path, std::string_view list_path);

// What go-getter makes of the address of an archive (client.go and get_http.go). Pure.
struct ArchiveRequest {
  // What is asked: without `archive` and `checksum`, the other arguments sorted, the host in ASCII. Where the server
  // says where the package is, with terraform-get=1.
  SecretText url = {};
  std::string host = {};                     // Source::host: whose credentials are sent
  std::optional<ArchiveFormat> format = {};  // none: the server says where the package is
  std::string checksum = {};                 // the argument's value; empty: none
  bool has_user = false;                     // the URL names a user, so nothing is looked up
};

// `archive=` names the format, or with "false" or any other text says that the URL is no archive; without it the end of
// the path decides. Errors: SOURCE_UNSUPPORTED (one compressed file); SOURCE_INVALID (no URL, or a checksum for what is
// no archive).
Result<ArchiveRequest> read_request(const SourceAddress& address);

}  // namespace modlock::archive
