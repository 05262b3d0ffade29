#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/source.h"
#include "backends/base/digest.h"
#include "protocol/base/result.h"

namespace modlock::oci {

// One repository of a registry.
struct Repository {
  std::string display;    // "oci://example.com/team/vpc", for messages
  std::string host;       // Source::host, for which credentials are configured
  std::string authority;  // where requests go, in ASCII; "registry-1.docker.io" for "docker.io"
  std::string name;       // "team/vpc"
  bool plain_http = false;

  // Returns "https://<authority>/v2/<name>/<rest>"; https also for the loopback, as in OpenTofu, unless plain_http.
  std::string url(std::string_view rest) const;
};

// The tag or digest that a source selects: exactly one of the two is set.
struct Reference {
  std::string tag;
  std::string digest;  // "sha256:…" or "sha512:…"

  const std::string& text() const { return digest.empty() ? tag : digest; }
};

struct Address {
  Repository repository;
  Reference reference;
};

// Reads an `oci://` source as OpenTofu's resolveRepositoryRef and resolveManifestDescriptor do
// (internal/getmodules/oci_getter.go): `?tag=` or `?digest=`, else the tag "latest". Errors: SOURCE_INVALID (a scheme
// other than oci; a malformed repository, tag or digest; any other argument; a repeated or empty argument; both tag and
// digest; `archive=` and `checksum=`); SOURCE_UNSUPPORTED (a digest with an algorithm other than SHA-256 and SHA-512).
Result<Address> read_address(const SourceAddress& source);

// Reads "host[:port]/repository" without a tag or a digest, as oras-go reads it. Errors: SOURCE_INVALID.
Result<Repository> parse_repository(std::string_view text);

// Returns the repository over plain http, for registries and caches on this machine. Errors: INVALID_PARAMS if its host
// is not on the loopback.
Result<Repository> over_plain_http(Repository repository);

enum class DigestForm { supported, other_algorithm, invalid };
// supported: "sha256:" and 64 lower-case hexadecimal digits, or the same for SHA-512; other_algorithm: for SHA-384;
// invalid: anything else.
DigestForm digest_form(std::string_view text);
// Returns SOURCE_UNSUPPORTED for a digest of another algorithm; `where` completes "the … has".
tl::unexpected<Error> unsupported_digest(std::string_view where, std::string_view digest);
// Checks a digest: unsupported_digest() of another algorithm, `invalid` for any other text.
Result<void> check_digest(std::string_view digest, std::string_view where, Error invalid);
// Returns the algorithm of a supported digest.
Hash digest_algorithm(std::string_view digest);
// Returns the digest text for a raw hash of that algorithm.
std::string digest_text(Hash algorithm, const std::vector<std::uint8_t>& hash);

// `^[a-z0-9]+(?:(?:[._]|__|[-]*)[a-z0-9]+)*(?:/…)*$`, in linear time.
bool is_repository_name(std::string_view text);
// `^\w[\w.-]{0,127}$`
bool is_tag_name(std::string_view text);

}  // namespace modlock::oci
