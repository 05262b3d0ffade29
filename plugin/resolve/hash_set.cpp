#include "plugin/resolve/hash_set.h"

#include <fmt/format.h>

#include <algorithm>

namespace modlock {
namespace {

using Hashes = std::vector<std::string>;

bool contains(const Hashes& hashes, const std::string& hash) {
  return std::find(hashes.begin(), hashes.end(), hash) != hashes.end();
}

bool is_of_archive(const std::string& hash) {
  return hash.starts_with("zh:");
}

// Of an archive a client compares the hash of its entries, of a directory that of the directory.
const std::string& compared_h1(const ProviderPackage& package) {
  return package.archive_h1.empty() ? package.h1 : package.archive_h1;
}

bool matches(const ProviderPackage& package, const Hashes& prior) {
  if (package.zh.empty() && std::all_of(prior.begin(), prior.end(), is_of_archive)) {
    return true;
  }
  const bool is_known_archive = !package.zh.empty() && contains(prior, package.zh);
  return is_known_archive || (!package.is_compared_by_zh && contains(prior, compared_h1(package)));
}

// Of a mirror a client records the hash of the directory alone, and where an archive is not plain, refuses that archive
// by its own record the next time. With what it compares beside, it does not.
void add_compared(const ProviderRelease& release, Hashes& hashes) {
  for (const auto& [platform, package] : release.packages) {
    if (!package.zh.empty() && !contains(hashes, package.zh)) {
      hashes.push_back(compared_h1(package));
    }
  }
}

bool is_vouched_for(const std::string& hash, const ProviderRelease& release) {
  return contains(release.published, hash) ||
         std::any_of(release.packages.begin(), release.packages.end(), [&](const auto& entry) {
           const ProviderPackage& package = entry.second;
           return hash == package.h1 || hash == compared_h1(package) || hash == package.zh ||
                  contains(package.recorded, hash);
         });
}

// Whether a package that the entry does not know may be one of a platform that it does not know either.
bool may_be_extended(const Hashes& prior, const ProviderRelease& release) {
  const auto vouched = [&](const std::string& hash) { return is_vouched_for(hash, release); };
  return std::any_of(prior.begin(), prior.end(), vouched) &&
         std::all_of(prior.begin(), prior.end(),
                     [&](const std::string& hash) { return !is_of_archive(hash) || vouched(hash); });
}

Error mismatch(const ProviderNeed& need, const ProviderLock& prior, const Platform& platform,
               const ProviderPackage& package) {
  const bool is_directory = package.zh.empty();
  const std::string name = need.address.to_string() + " " + prior.version.to_string();
  Error error{
      .code = Code::hash_mismatch,
      .message = fmt::format("the {} package for {} doesn't match any of the checksums previously recorded in the "
                             "dependency lock file{}",
                             is_directory ? "local" : "current", name,
                             is_directory ? " (this might be because the available checksums are for packages "
                                            "targeting different platforms)"
                                          : ""),
      .subject = need.subject(),
      .location = need.location,
      .hint =
          "find out why: a release was replaced, or the lock is of another source; if the package is right, remove "
          "the provider's block from the lock file and lock again"};
  Hashes compared;
  if (!package.is_compared_by_zh) {
    compared.push_back(compared_h1(package));
  }
  if (!is_directory) {
    compared.push_back(package.zh);
  }
  error.notes.push_back(fmt::format("the package for {} has {}", platform.to_string(), fmt::join(compared, " and ")));
  return error;
}

}  // namespace

Hashes known_hashes(std::span<const std::string> hashes) {
  Hashes known;
  std::copy_if(hashes.begin(), hashes.end(), std::back_inserter(known),
               [](const std::string& hash) { return hash.starts_with("h1:") || is_of_archive(hash); });
  return known;
}

Hashes complete_hashes(HashSet set, const ProviderLock* prior, const ProviderRelease& release) {
  Hashes hashes = release.published;
  for (const auto& [platform, package] : release.packages) {
    hashes.push_back(package.h1);
    hashes.insert(hashes.end(), package.recorded.begin(), package.recorded.end());
  }
  if (set == HashSet::superset) {
    add_compared(release, hashes);
  }
  if (prior != nullptr) {
    const Hashes kept = set == HashSet::providers_lock ? prior->hashes : known_hashes(prior->hashes);
    hashes.insert(hashes.end(), kept.begin(), kept.end());
  }
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return hashes;
}

Result<void> check_prior_hashes(HashSet set, const ProviderNeed& need, const ProviderLock& prior,
                                const ProviderRelease& release) {
  const Hashes known = known_hashes(prior.hashes);
  if (known.empty() || set == HashSet::providers_lock) {
    return {};
  }
  for (const auto& [platform, package] : release.packages) {
    if (!matches(package, known) && !(set == HashSet::superset && may_be_extended(known, release))) {
      return fail(mismatch(need, prior, platform, package));
    }
  }
  return {};
}

}  // namespace modlock
