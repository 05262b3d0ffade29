#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/address/platform.h"
#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/store/store.h"

namespace modlock {

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
