#include "backends/providers/authentication.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "backends/address/source_text.h"
#include "backends/base/text.h"
#include "backends/http/http_client.h"
#include "backends/providers/openpgp.h"

namespace modlock::provider_registry {
namespace {

// The first two fields of a line, empty if missing.
struct Line {
  explicit Line(std::string_view text) { std::istringstream(std::string(text)) >> hash >> file_name; }

  std::string hash;
  std::string file_name;
};

using Kind = SignatureVerdict::Kind;

constexpr const char* kUnknownIssuer = "authentication signature from unknown issuer";

tl::unexpected<Error> refused(const SignatureRules& rules, const std::string& release, std::string_view reason,
                              std::string hint) {
  return fail(Code::signature_invalid,
              rules.client == ClientRules::terraform
                  ? fmt::format("{}: {}", release, reason)
                  : fmt::format("{}: the provider is not signed with a valid signing key; please contact the provider "
                                "author ({})",
                                release, reason),
              std::move(hint));
}

ProviderSignature signed_by(SignatureVerdict verdict) {
  return {ProviderSignature::Status::signed_by_key, std::move(verdict.key_id), verdict.made};
}

// Whether a verdict is accepted regardless of the other keys.
bool is_accepted(Kind kind, const SignatureRules& rules) {
  return kind == Kind::good || (kind == Kind::key_expired && rules.client == ClientRules::terraform);
}

std::string reason_of(const SignatureVerdict& verdict) {
  return fmt::format("error checking signature: {}", verdict.kind == Kind::signature_expired
                                                         ? "openpgp: signature expired"
                                                         : "openpgp: invalid signature: " + verdict.reason);
}

}  // namespace

Result<void> expect_listed(std::string_view document, std::string_view file_name, std::string_view zh) {
  while (!document.empty()) {
    const Line line(take_line(document));
    if (line.file_name.empty() || line.file_name != file_name) {
      continue;
    }
    const auto hash = zh_of_checksum(line.hash);
    if (!hash) {
      return fail(Code::bad_response,
                  fmt::format("checksum list has invalid SHA256 hash \"{}\"", quotable(line.hash.substr(0, 80))));
    }
    if (*hash != zh) {
      return fail(Code::hash_mismatch, fmt::format("checksum list has unexpected SHA-256 hash {} (expected {})",
                                                   hash->substr(3), zh.substr(3)));
    }
    return {};
  }
  return fail(Code::bad_response,
              fmt::format("checksum list has no SHA-256 hash for \"{}\"", escape_controls(file_name)));
}

Result<std::vector<std::string>> hashes_of(std::string_view document) {
  std::vector<std::string> hashes;
  while (!document.empty()) {
    const Line line(take_line(document));
    if (line.hash.empty()) {
      return fail(Code::bad_response, "checksum list has a blank line");
    }
    auto hash = line.file_name.empty() ? std::nullopt : zh_of_checksum(line.hash);
    if (!hash) {
      return std::vector<std::string>();
    }
    hashes.push_back(std::move(*hash));
  }
  return hashes;
}

Result<SignatureOutcome> verify_signature(const std::vector<std::string>& keys, std::string_view checksums,
                                          std::string_view signature, const SignatureRules& rules,
                                          const std::string& release) {
  if (keys.empty() && !rules.are_required()) {
    return SignatureOutcome{{.status = ProviderSignature::Status::skipped}, {}};
  }
  std::optional<SignatureVerdict> expired;  // of the first such key
  for (const std::string& key : keys) {
    auto verdict = check_detached_signature(key, checksums, signature);
    if (!verdict && verdict.error().code == Code::bad_response) {
      return refused(rules, release, fmt::format("error decoding signing key: {}", verdict.error().message),
                     "contact the operator of the registry");
    }
    if (!verdict) {
      return fail(std::move(verdict.error()));
    }
    if (is_accepted(verdict->kind, rules)) {
      return SignatureOutcome{signed_by(std::move(*verdict)), {}};
    }
    if (verdict->kind == Kind::bad ||
        (verdict->kind == Kind::signature_expired && rules.client == ClientRules::terraform)) {
      return refused(rules, release, reason_of(*verdict),
                     "do not use this release: its checksums do not match the author's signature");
    }
    if (verdict->kind != Kind::unknown_issuer && !expired) {
      expired = std::move(*verdict);
    }
  }
  if (expired && !rules.enforce_expiration) {
    Diagnostic warning{.severity = Severity::warning,
                       .what = {.code = Code::signature_invalid,
                                .message = fmt::format("{}: the gpg key {} or its signature has expired; future "
                                                       "releases of OpenTofu will refuse that",
                                                       release, expired->key_id),
                                .hint = "ask the provider's author to renew the key in the registry"}};
    return SignatureOutcome{signed_by(*std::move(expired)), {std::move(warning)}};
  }
  return refused(rules, release, kUnknownIssuer,
                 expired ? "ask the provider's author to renew the key in the registry, or unset "
                           "OPENTOFU_ENFORCE_GPG_EXPIRATION"
                 : keys.empty()
                     ? "the registry publishes no key: contact its operator"
                     : "the registry does not publish the key that made the signature: contact its operator");
}

Result<const ListedPackage*> listed_package(const PackageMetadata& metadata, const Platform& platform) {
  if (metadata.packages.empty()) {
    return nullptr;
  }
  const auto entry = metadata.packages.find(platform);
  if (entry == metadata.packages.end()) {
    return fail(Code::bad_response,
                fmt::format("registry response missing package with platform \"{}\"", platform.to_string()));
  }
  if (entry->second.size <= 0) {
    return fail(Code::bad_response, fmt::format("registry response has invalid package size {}", entry->second.size));
  }
  bool is_found = false;
  for (const std::string& hash : entry->second.hashes) {
    if (!hash.starts_with("zh:")) {
      continue;
    }
    if (hash.substr(3) != metadata.checksum) {
      return fail(Code::hash_mismatch,
                  fmt::format("registry response expected sha256sum is \"{}\", which does not match the platform's "
                              "value of \"{}\"",
                              metadata.checksum, hash.substr(3)));
    }
    is_found = true;
  }
  if (!is_found) {
    return fail(Code::bad_response,
                "registry response does not contain matching sha256sum package entry and is invalid");
  }
  return &entry->second;
}

Result<void> expect_size(const ListedPackage& listed, std::uint64_t size) {
  if (static_cast<std::uint64_t>(listed.size) != size) {
    return fail(Code::hash_mismatch, fmt::format("registry response indicates a package of size {}, but received a "
                                                 "package of size {}",
                                                 listed.size, size));
  }
  return {};
}

}  // namespace modlock::provider_registry
