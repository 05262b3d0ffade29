#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/platform.h"
#include "backends/address/provider_version.h"
#include "backends/address/source.h"
#include "protocol/base/result.h"

namespace modlock::provider_registry {

// Whose rules are followed.
enum class ClientRules {
  terraform,
  opentofu,      // up to 1.11
  opentofu_1_12  // from here on a registry may list the hashes of all packages
};

// What the answers of the protocol "providers.v1" mean (internal/getproviders/registry_client.go of OpenTofu). Pure.
// Errors are BAD_RESPONSE whose message says what is wrong with the answer, for the caller to complete with what was
// asked.

struct ListedProvider {
  ProviderVersion version;
  std::vector<std::string> protocols;  // as written
};
struct ProviderVersions {
  std::vector<ListedProvider> versions;  // newest first, each once
  std::vector<std::string> warnings;
};

// The body of `…/versions`. A text that is no version spoils the whole answer.
Result<ProviderVersions> parse_versions(std::string_view body);

// The newest version that speaks a protocol which the clients speak; null where there is none. A protocol that is no
// version is an error.
Result<const ListedProvider*> newest_supported(const ProviderVersions& versions);

// Returns a checksum of an archive, 64 hexadecimal digits, as a hash of the lock file: "zh:…" in lower case; nullopt if
// the text is not a SHA-256.
std::optional<std::string> zh_of_checksum(std::string_view text);

// The package of one platform, as the list of all packages has it.
struct ListedPackage {
  std::vector<std::string> hashes = {};
  std::int64_t size = 0;
};

struct PackageMetadata {
  bool is_supported = true;  // the clients speak one of its protocols; where not, nothing else is told
  std::string file_name = {};
  SecretText archive_url = {};  // absolute, http or https; the query of a URL may be secret
  SecretText checksums_url = {};
  SecretText signature_url = {};
  std::string checksum = {};                        // SHA-256 of the archive, as written: 64 hexadecimal digits
  std::string zh = {};                              // the same as a hash of the lock file
  std::vector<std::string> keys = {};               // armored
  std::map<Platform, ListedPackage> packages = {};  // of all platforms; empty where the registry lists none
};

// The body of `…/download/<os>/<arch>`, which `url` answered.
Result<PackageMetadata> parse_package(std::string_view body, std::string_view url, const Platform& platform,
                                      ClientRules rules);

}  // namespace modlock::provider_registry
