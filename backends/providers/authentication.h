#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/providers/provider_protocol.h"
#include "backends/providers/provider_source.h"
#include "protocol/base/result.h"

namespace modlock::provider_registry {

// Whether and how a release must be signed (OpenTofu's package_authentication.go; Terraform's rules).
struct SignatureRules {
  ClientRules client = ClientRules::opentofu_1_12;
  bool is_default_host = false;     // the provider is of the client's own registry
  bool enforce_signatures = false;  // OPENTOFU_ENFORCE_GPG_VALIDATION
  bool enforce_expiration = false;  // OPENTOFU_ENFORCE_GPG_EXPIRATION

  // Whether a signature is required even if the registry publishes no key. If not, unsigned data of the registry counts
  // as signed.
  bool are_required() const { return client == ClientRules::terraform || !is_default_host || enforce_signatures; }
};

struct SignatureOutcome {
  ProviderSignature signature;
  Diagnostics warnings;
};

// Verifies the signature of the checksums with each published key in turn. A key that did not make the signature is
// skipped. If no other key fits, an expired key or signature is accepted with a warning, unless `enforce_expiration` is
// set. Terraform accepts an expired key without a warning, and never an expired signature. Without keys nothing is
// verified. Errors: SIGNATURE_INVALID in the client's words. `release` names the release in them.
Result<SignatureOutcome> verify_signature(const std::vector<std::string>& keys, std::string_view checksums,
                                          std::string_view signature, const SignatureRules& rules,
                                          const std::string& release);

// Returns the entry for this platform in the list of all packages, after a check that its checksum is
// `metadata.checksum`. Returns null if the registry publishes no list. The caller compares the size. Errors in
// OpenTofu's words: BAD_RESPONSE (no entry for the platform, no size, no hash of the archive); HASH_MISMATCH (another
// hash).
Result<const ListedPackage*> listed_package(const PackageMetadata& metadata, const Platform& platform);

// Fails with HASH_MISMATCH in OpenTofu's words if a package does not have its listed size.
Result<void> expect_size(const ListedPackage& listed, std::uint64_t size);

// The file SHA256SUMS of a release, "<64 hexadecimal digits>  <file name>" per line, as OpenTofu reads it
// (internal/getproviders/package_authentication.go). Pure. The caller adds the request to errors.

// Expects the first line with that file name to have this hash ("zh:…"). Errors: HASH_MISMATCH (another hash);
// BAD_RESPONSE (no such line, or an invalid hash).
Result<void> expect_listed(std::string_view document, std::string_view file_name, std::string_view zh);

// Returns the hashes of all lines ("zh:…") in order, whatever their files. Returns none if a line is malformed, because
// the document is not a checksum file then. Errors: BAD_RESPONSE (a blank line, at which the clients crash).
Result<std::vector<std::string>> hashes_of(std::string_view document);

}  // namespace modlock::provider_registry
