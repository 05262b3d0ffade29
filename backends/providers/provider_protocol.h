#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/address/source.h"
#include "backends/registry/registry_http.h"
#include "protocol/base/result.h"

namespace modlock::provider_registry {

using registry::ClientRules;

// Reads the responses of the protocol "providers.v1" (internal/getproviders/registry_client.go of OpenTofu). Pure.
// Errors are BAD_RESPONSE; the message states the problem, and the caller adds the request.

struct ListedProvider {
  ProviderVersion version;
  std::vector<std::string> protocols;  // as written
  std::optional<std::chrono::system_clock::time_point> published = {};
};
struct ProviderVersions {
  std::vector<ListedProvider> versions;  // newest first, each once
  std::vector<std::string> warnings;
};

// Reads the body of `…/versions`. An invalid version makes the whole response invalid.
Result<ProviderVersions> parse_versions(std::string_view body);

// Returns the newest version with a protocol that the clients support, or null. A protocol that is not a version is an
// error.
Result<const ListedProvider*> newest_supported(const ProviderVersions& versions);

// Returns a checksum of an archive, 64 hexadecimal digits, as a hash of the lock file: "zh:…" in lower case. Returns
// nullopt if the text is not a SHA-256.
std::optional<std::string> zh_of_checksum(std::string_view text);

// The entry of one platform in the list of all packages.
struct ListedPackage {
  std::vector<std::string> hashes = {};
  std::int64_t size = 0;
};

struct PackageMetadata {
  bool is_supported = true;  // the clients support one of its protocols; if false, the other members are unset
  std::string file_name = {};
  SecretText archive_url = {};  // absolute, http or https; the query of a URL may be secret
  SecretText checksums_url = {};
  SecretText signature_url = {};
  std::string checksum = {};                        // SHA-256 of the archive, as written: 64 hexadecimal digits
  std::string zh = {};                              // the checksum as a hash of the lock file
  std::vector<std::string> keys = {};               // armored
  std::map<Platform, ListedPackage> packages = {};  // of all platforms; empty if the registry lists none
};

// Reads the body of `…/download/<os>/<arch>`, which came from `url`.
Result<PackageMetadata> parse_package(std::string_view body, std::string_view url, const Platform& platform,
                                      ClientRules rules);

}  // namespace modlock::provider_registry
