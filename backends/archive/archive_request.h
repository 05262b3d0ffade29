#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "backends/package/unpack.h"
#include "protocol/base/result.h"

namespace modlock::archive {

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
