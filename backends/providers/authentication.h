#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/providers/provider_protocol.h"
#include "backends/providers/provider_source.h"
#include "protocol/base/result.h"

namespace modlock::provider_registry {

// Whether, and how, a release has to be signed (OpenTofu's package_authentication.go; Terraform's rules).
struct SignatureRules {
  ClientRules client = ClientRules::opentofu_1_12;
  bool is_default_host = false;     // the provider is of the client's own registry
  bool enforce_signatures = false;  // OPENTOFU_ENFORCE_GPG_VALIDATION
  bool enforce_expiration = false;  // OPENTOFU_ENFORCE_GPG_EXPIRATION

  // Whether somebody's signature is needed even where the registry publishes no key. What it says without one counts as
  // signed where not.
  bool are_required() const { return client == ClientRules::terraform || !is_default_host || enforce_signatures; }
};

struct SignatureOutcome {
  ProviderSignature signature;
  Diagnostics warnings;
};

// Judges the signature of the checksums by the published keys, one by one: a key that has nothing to do with it leads
// to the next; one that has expired, or whose signature has, serves where no other does, with a warning, unless that is
// enforced (Terraform takes an expired key without a word, and no expired signature). Without keys, nothing is judged.
// Errors: SIGNATURE_INVALID in the client's words. `release` names the release in them.
Result<SignatureOutcome> verify_signature(const std::vector<std::string>& keys, std::string_view checksums,
                                          std::string_view signature, const SignatureRules& rules,
                                          const std::string& release);

// The package that the list of all packages has for this platform, whose checksum is `metadata.checksum`; null where
// the registry lists none. The size is the caller's to compare. Errors in OpenTofu's words: BAD_RESPONSE (it lists
// others only, no size, no hash of the archive); HASH_MISMATCH (another hash).
Result<const ListedPackage*> listed_package(const PackageMetadata& metadata, const Platform& platform);

// HASH_MISMATCH in OpenTofu's words where a package has another size than it was listed with.
Result<void> expect_size(const ListedPackage& listed, std::uint64_t size);

// The file SHA256SUMS of a release, "<64 hexadecimal digits>  <file name>" a line, as OpenTofu reads it
// (internal/getproviders/package_authentication.go). Pure. Errors are for the caller to complete with what was asked.

// Whether the first line of that file name has this hash ("zh:…"). Errors: HASH_MISMATCH (another one); BAD_RESPONSE
// (no such line, or what stands there is no hash).
Result<void> expect_listed(std::string_view document, std::string_view file_name, std::string_view zh);

// The hashes of all lines ("zh:…") in their order, whatever their files. None where a line is not of that form: it is
// then no list of checksums. Errors: BAD_RESPONSE (a blank line, at which the clients crash).
Result<std::vector<std::string>> hashes_of(std::string_view document);

}  // namespace modlock::provider_registry
