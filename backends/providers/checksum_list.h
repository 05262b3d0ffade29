#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace modlock::provider_registry {

// The file SHA256SUMS of a release, "<64 hexadecimal digits>  <file name>" a line, as OpenTofu reads it
// (internal/getproviders/package_authentication.go). Pure. Errors are for the caller to complete with what was asked.

// Whether the first line of that file name has this hash ("zh:…"). Errors: HASH_MISMATCH (another one); BAD_RESPONSE
// (no such line, or what stands there is no hash).
Result<void> expect_listed(std::string_view document, std::string_view file_name, std::string_view zh);

// The hashes of all lines ("zh:…") in their order, whatever their files. None where a line is not of that form: it is
// then no list of checksums. Errors: BAD_RESPONSE (a blank line, at which the clients crash).
Result<std::vector<std::string>> hashes_of(std::string_view document);

}  // namespace modlock::provider_registry
