#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/package/provider_archive.h"
#include "backends/store/store.h"

namespace modlock {

// The hashes of provider archives that runs of this user have read or inspected, by their digests, below v2/hashes of a
// store. This is a cache: unreadable files are treated as absent, and a failure to write is no error. Safe for any
// number of threads and processes.
class ProviderHashes {
 public:
  // The store outlives this.
  explicit ProviderHashes(const Store& store) : store_(store) {}

  // Returns whether a text is "zh:" and 64 lower-case hexadecimal digits. There are no facts about any other text.
  static bool is_digest(std::string_view zh);

  std::optional<ProviderArchiveHashes> find(std::string_view zh) const;
  void note(std::string_view zh, const ProviderArchiveHashes& archive) const;

  // Locks an archive while it is read. A caller that had to wait must call find() again before it reads the archive.
  // Errors: those of Store::hold(); INTERNAL if the text is not a `zh`.
  Result<FileLock> hold(std::string_view zh, const Context& context) const;

 private:
  const Store& store_;
};

// All hashes that a registry had for a release, for platforms and by the rules of a client. They are in the file
// "release-<sha256 of all these>" below v2/hashes of a store, one per line. A lock entry that has all of them needs no
// request. This is a cache: unreadable files are treated as absent, and a failure to write is no error. Safe for any
// number of threads and processes.
class ReleaseHashes {
 public:
  // The store outlives this. `rules` identifies the client and everything else that determines which hashes are
  // recorded.
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
