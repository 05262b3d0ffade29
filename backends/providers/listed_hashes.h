#pragma once

#include <string>
#include <vector>

#include "backends/providers/provider_source.h"
#include "protocol/base/result.h"

namespace modlock {

// Those of the hashes that a mirror lists which are hashes of this archive, as a client compares them
// (NewPackageHashAuthentication of OpenTofu); none where none is listed. Errors, in OpenTofu's words: HASH_MISMATCH
// (one of a known scheme is listed, and none is of this archive), SOURCE_UNSUPPORTED (no known scheme).
Result<std::vector<std::string>> matching_hashes(const std::vector<std::string>& listed,
                                                 const ProviderPackage& package);

// Of a scheme that clients know: "h1:" and "zh:".
bool is_known_hash(const std::string& hash);

}  // namespace modlock
