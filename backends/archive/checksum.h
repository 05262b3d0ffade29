#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/base/digest.h"
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

}  // namespace modlock::archive
