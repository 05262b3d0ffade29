#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/address/platform.h"
#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/address/scrub.h"
#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

// What a source offers of one provider.
struct ProviderListing {
  std::vector<ProviderVersion> versions;  // newest first (compare()), each once
  std::vector<std::string> warnings;      // what a registry says of the provider, for people
};

// The hashes of one provider package, that of one platform.
struct ProviderPackage {
  // Of the directory that it unpacks to: what a client that installed it computes ("h1:…").
  std::string h1;
  // Of the entries of the archive as they are named there ("h1:…"): what a client compares with the lock before it
  // unpacks. Another one than h1 only where an archive has entries of directories, unclean or double names. Empty where
  // the package is a directory already.
  std::string archive_h1 = {};
  std::string zh = {};  // of the archive; empty where the package is a directory
  // Whether a client compares zh alone: on an OCI registry, where that is the digest, known before anything is read.
  bool is_compared_by_zh = false;
  // What a client adds to its lock once it has installed the package from here: h1, and zh or what else its source
  // vouches for, as the release of the client has it.
  std::vector<std::string> recorded = {};
};

// Who signed the checksums of a release.
struct ProviderSignature {
  enum class Status {
    none,     // the source has no signatures: a mirror
    skipped,  // no key is published, and the client asks for none
    signed_by_key
  };
  Status status = Status::none;
  std::string key_id = {};  // 16 hexadecimal digits in upper case, as the clients show it
};

// What a source says of one version of a provider.
struct ProviderRelease {
  // What a client records, whatever its platform, because the source vouches for it: the archives that signed checksums
  // name, and, where the client takes its word, the hashes that the registry lists. Sorted, each once.
  std::vector<std::string> published = {};
  std::map<Platform, ProviderPackage> packages = {};  // of the platforms that were asked for
  ProviderSignature signature = {};
  // Whether `published` covers the platforms that nobody asked for. Where it does not, clients say that the lock file
  // is incomplete.
  bool covers_all_platforms = true;
  Diagnostics warnings = {};  // a signature whose key has expired
};

// One way to reach provider packages: a registry, a mirror. Thread-safe; the limits of Backend hold: nobody is
// prompted, deadline and cancellation are obeyed, and no secret reaches an error, a log line or a path.
//
// Errors of every call: NOT_FOUND (provider, version or platform is not there: `provider registry <host> does not have
// a provider named <name>`, `provider <name> <version> is not available for <platform>`), AUTH_REQUIRED, FORBIDDEN,
// RATE_LIMITED, UNREACHABLE, TIMEOUT, DEADLINE_EXCEEDED, REQUEST_CANCELLED, BAD_RESPONSE, SOURCE_DENIED, OFFLINE_MISS,
// HASH_MISMATCH (an archive is not what its source says), SIGNATURE_INVALID, ARCHIVE_UNSAFE, IO_ERROR.
class ProviderSource {
 public:
  virtual ~ProviderSource() = default;

  // All versions, prereleases too. One request, answered once in the life of the object.
  virtual Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) = 0;

  // The hashes of a version: what is published, and the packages of `platforms`, of which there is at least one. No
  // archive is downloaded where its hashes are known without: by the store, or by what the source vouches for. All
  // platforms or an error.
  virtual Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                          std::span<const Platform> platforms, const Context& context) = 0;
};

// `inner`, whose errors, warnings and log lines show nothing that `secrets` contains, which outlives it. If it
// memoizes, a question is answered only once, for a run over many roots, by the rules of BackendOptions::memoizes; a
// release is one question for each set of platforms.
std::shared_ptr<ProviderSource> make_shared_provider_source(std::shared_ptr<ProviderSource> inner,
                                                            const KnownSecrets& secrets, bool memoizes);

// A source and the providers that it is asked for.
struct ProviderSelector {
  std::shared_ptr<ProviderSource> source;
  std::function<bool(const ProviderAddress&)> serves;
};

// Several sources as one (OpenTofu: internal/getproviders/multi_source.go). The versions of a provider are those of all
// sources that serve it; one that does not have the provider is passed over, any other failure is that of the whole,
// also that its host has no registry of providers, whatever a mirror has of it. A package comes from the first source
// that has it for its platform. Errors beside those of the sources: NOT_FOUND `provider <name> was not found in any of
// the search locations` where nothing lists a version, and `provider <name> <version> is not available for <platform>`.
std::unique_ptr<ProviderSource> make_multi_source(std::vector<ProviderSelector> selectors);

// The order of a ProviderListing: newest first, each once. Of versions that are equally new, the order is that of their
// metadata.
void order_newest_first(std::vector<ProviderVersion>& versions);

// NOT_FOUND `provider <name> was not found in any of the search locations`, as the clients say it.
tl::unexpected<Error> provider_not_found(const ProviderAddress& provider);

// NOT_FOUND `provider <name> <version> is not available for <platform>`, likewise.
tl::unexpected<Error> not_available(const ProviderAddress& provider, const ProviderVersion& version,
                                    const Platform& platform);

// The error of something that a source lists and then does not have: no other source is asked in its place, so a
// NOT_FOUND becomes BAD_RESPONSE.
Error not_as_listed(Error error);

}  // namespace modlock
