#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/address/scrub.h"
#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

class BodySink;
class Store;

// The versions of one provider at a source.
struct ProviderListing {
  std::vector<ProviderVersion> versions;  // newest first (compare()), each once
  std::vector<std::string> warnings;      // notices of a registry about the provider, for people
  // The dates that the only source of a version gives, by its text.
  std::map<std::string, std::chrono::system_clock::time_point> published = {};
  // Since when each version is known, in their order; set by make_shared_provider_source().
  std::vector<std::chrono::system_clock::time_point> known_since = {};
};

// The hashes of a provider package for one platform.
struct ProviderPackage {
  // Hash of the extracted directory, which a client computes after installation ("h1:…").
  std::string h1;
  // Hash of the archive's entries under their names there ("h1:…"), which a client compares with the lock before it
  // extracts the archive. Differs from h1 only if the archive has directory entries, or unclean or duplicate names.
  // Empty if the package is a directory.
  std::string archive_h1 = {};
  std::string zh = {};  // of the archive; empty if the package is a directory
  // Whether a client compares only zh: on an OCI registry, where zh is the digest, which is known in advance.
  bool is_compared_by_zh = false;
  // The hashes that a client adds to its lock after it installed the package from this source: h1, and zh or other
  // hashes that the source publishes, depending on the client version.
  std::vector<std::string> recorded = {};
};

// The signer of a release's checksums.
struct ProviderSignature {
  enum class Status {
    none,     // the source has no signatures (a mirror)
    skipped,  // no key is published, and the client requires no signature
    signed_by_key
  };
  Status status = Status::none;
  std::string key_id = {};  // 16 hexadecimal digits in upper case, as the clients show it
  std::optional<std::chrono::system_clock::time_point> made = {};  // as the signer says
};

// The data of a source about one version of a provider.
struct ProviderRelease {
  // The hashes that a client records for all platforms because the source publishes them: those of the signed checksums
  // and, if the client trusts the registry's list, those of the list. Sorted, without duplicates.
  std::vector<std::string> published = {};
  std::map<Platform, ProviderPackage> packages = {};  // of the requested platforms
  ProviderSignature signature = {};
  // Whether `published` covers the platforms that were not requested. If not, clients report that the lock file is
  // incomplete.
  bool covers_all_platforms = true;
  Diagnostics warnings = {};  // a signature whose key has expired
};

// A source of provider packages: a registry or a mirror. Thread-safe. The limits of Backend apply: it never prompts,
// obeys deadline and cancellation, and puts no secret into an error, a log line or a path.
//
// Errors of every call: NOT_FOUND (no such provider, version or platform: `provider registry <host> does not have a
// provider named <name>`, `provider <name> <version> is not available for <platform>`), AUTH_REQUIRED, FORBIDDEN,
// RATE_LIMITED, UNREACHABLE, TIMEOUT, DEADLINE_EXCEEDED, REQUEST_CANCELLED, BAD_RESPONSE, SOURCE_DENIED, OFFLINE_MISS,
// HASH_MISMATCH (an archive does not match its source's hashes), SIGNATURE_INVALID, ARCHIVE_UNSAFE, IO_ERROR.
class ProviderSource {
 public:
  virtual ~ProviderSource() = default;

  // Returns all versions, including prereleases.
  virtual Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) = 0;

  // Returns the hashes of a version: the published ones, and those of the packages of `platforms` (at least one).
  // Downloads an archive only if its hashes are neither in the store nor published by the source. Returns all platforms
  // or an error.
  virtual Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                          std::span<const Platform> platforms, const Context& context) = 0;

  // Sends the archive of a package to a sink, as the source has it. The caller checks its hashes. Errors:
  // SOURCE_UNSUPPORTED (the source has a directory instead of an archive); those of the sink.
  virtual Result<void> download(const ProviderAddress& provider, const ProviderVersion& version,
                                const Platform& platform, BodySink& sink, const Context& context) = 0;
};

// What decides since when a version is known (FirstSeen).
struct ReleaseDates {
  const Store& store;
  std::vector<std::string> trusted = {};  // registry hosts whose dates are trusted
};

// Wraps `inner` and removes all `secrets` from its errors, warnings and log lines. Records the versions of each listing
// and sets since when they are known: the date of a trusted registry; otherwise when the store first saw the version,
// or a later date of the source. `secrets` and the store outlive the source. Each request is answered only once, by the
// rules of BackendOptions::memoizes. Each set of platforms of a release is a separate request.
std::shared_ptr<ProviderSource> make_shared_provider_source(std::shared_ptr<ProviderSource> inner,
                                                            const KnownSecrets& secrets, const ReleaseDates& dates);

// A source and the providers that it serves.
struct ProviderSelector {
  std::shared_ptr<ProviderSource> source;
  std::function<bool(const ProviderAddress&)> serves;
};

// Combines several sources (OpenTofu: internal/getproviders/multi_source.go). The versions of a provider are those of
// all sources that serve it. A source that does not have the provider is skipped. Any other failure fails the
// whole. This includes a host without a provider registry, even if a mirror has the provider. A package comes from the
// first source that has it for its platform. Errors in addition to those of the sources: NOT_FOUND `provider <name> was
// not found in any of the search locations` if no source lists a version, and `provider <name> <version> is not
// available for <platform>`.
std::unique_ptr<ProviderSource> make_multi_source(std::vector<ProviderSelector> selectors);

// Sorts versions for a ProviderListing, newest first, and removes duplicates. Equally new versions are sorted by
// metadata.
void order_newest_first(std::vector<ProviderVersion>& versions);

// Returns "registry.opentofu.org/hashicorp/null 3.2.0 for linux_amd64", for messages.
std::string package_display(const ProviderAddress& provider, const ProviderVersion& version, const Platform& platform);

// NOT_FOUND `provider <name> was not found in any of the search locations`, the clients' wording.
tl::unexpected<Error> provider_not_found(const ProviderAddress& provider);

// NOT_FOUND `provider <name> <version> is not available for <platform>`, the clients' wording.
tl::unexpected<Error> not_available(const ProviderAddress& provider, const ProviderVersion& version,
                                    const Platform& platform);

// The error for a package that a source lists but does not have. NOT_FOUND becomes BAD_RESPONSE, so that no other
// source is tried.
Error not_as_listed(Error error);

}  // namespace modlock
