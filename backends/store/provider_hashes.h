#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/platform.h"
#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/store/store.h"

namespace modlock {

// What is known of a provider archive by its digest, which never changes.
struct KnownArchive {
  std::uint64_t size = 0;                  // bytes
  std::string h1 = {};                     // of the directory that it unpacks to; empty: only looked at, not read
  std::string archive_h1 = {};             // of its entries as they are named; empty as h1
  bool is_plain = false;                   // both are the same, as its list of entries shows
  std::vector<std::string> programs = {};  // ZipLayout::programs
};

// The hashes of provider archives that this user's runs have read, below v2/hashes of a store: a cache, of which what
// cannot be read is as if absent, and failing to write it is no error. Any number of threads and processes.
class ProviderHashes {
 public:
  // The store outlives this.
  explicit ProviderHashes(const Store& store) : store_(store) {}

  // Whether a text is "zh:" and 64 hexadecimal digits in lower case. Nothing is known of any other text.
  static bool is_digest(std::string_view zh);

  std::optional<KnownArchive> find(std::string_view zh) const;
  void note(std::string_view zh, const KnownArchive& archive) const;

  // Holds an archive while it is read: who has waited looks again before it does the same. Errors: those of
  // Store::hold_archive(); INTERNAL for a text that is no `zh`.
  Result<FileLock> hold(std::string_view zh, const Context& context) const;

 private:
  const Store& store_;
};

// All hashes that a registry had of a release, for platforms and by the rules of a client, below v2/hashes of a store
// as "release-<sha256 of all these>", a hash a line: an entry of a lock that has them all needs no request. A cache:
// what cannot be read is as if absent, and failing to write it is no error. Any number of threads and processes.
class ReleaseHashes {
 public:
  // The store outlives this. `rules` says which client, and what else decides what is recorded.
  ReleaseHashes(const Store& store, std::string rules) : store_(store), rules_(std::move(rules)) {}

  std::optional<std::vector<std::string>> find(const ProviderAddress& provider, const ProviderVersion& version,
                                               std::span<const Platform> platforms) const;
  void note(const ProviderAddress& provider, const ProviderVersion& version, std::span<const Platform> platforms,
            const std::vector<std::string>& hashes) const;

 private:
  std::filesystem::path path_of(const ProviderAddress& provider, const ProviderVersion& version,
                                std::span<const Platform> platforms) const;

  const Store& store_;
  std::string rules_;
};

}  // namespace modlock
