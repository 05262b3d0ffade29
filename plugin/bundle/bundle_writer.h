#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/package/provider_archive.h"
#include "backends/remote/layout.h"
#include "plugin/resolve/plan.h"
#include "plugin/resolve/source_fetcher.h"

namespace modlock {

// Packs locked packages and providers, each once for all lock files of a bundle.
class BundleWriter {
 public:
  // When the zips of packages are written: now, or when they are pushed (LayoutWriter::layout()).
  enum class Zips { now, on_demand };
  // `work` is an empty directory of the caller, who removes it. `platforms` are those of providers; empty: without
  // them.
  BundleWriter(const Store& store, const std::filesystem::path& work, std::vector<Platform> platforms, Zips zips)
      : store_(store), work_(work), writer_(work / "layout"), platforms_(std::move(platforms)), zips_(zips) {}

  // Adds the package on disk of a lock entry, whose source address is `called`. Errors: HASH_MISMATCH (it is not the
  // package of its h1 or commit); those of pack_zip(); IO_ERROR.
  Result<remote::BundledPackage> add_package(const ModuleLock& entry, const ResolvedModule& module,
                                             const SourceAddress& called, const SourceFetcher& fetcher,
                                             const Context& context);

  // Downloads the archive of a provider to a sink. Errors are those of add_providers().
  using Download =
      std::function<Result<void>(const ProviderAddress&, const ProviderLock&, const Platform&, BodySink& sink)>;
  // Adds the archives of locked providers. Errors: those of `download` and hash_provider_archive(); HASH_MISMATCH (the
  // lock file at `path` has no hash of the archive).
  Result<std::vector<remote::BundledProvider>> add_providers(const ProviderLocks& locks, const std::string& path,
                                                             const Download& download, const Context& context);

  remote::LayoutWriter& layout() { return writer_; }
  // Returns the packages of the store that need no further check, for Context::intact.
  IntactPackages& intact() { return intact_; }

 private:
  Result<remote::BundledProvider::Archive> add_archive(const ProviderAddress& address, const ProviderLock& lock,
                                                       const Platform& platform, const std::string& path,
                                                       const Download& download, const Context& context);

  IntactPackages intact_;
  const Store& store_;
  const std::filesystem::path work_;
  remote::LayoutWriter writer_;
  const std::vector<Platform> platforms_;
  const Zips zips_;
  // Zips, trees and links, by directory and commit: two commits may have the same files.
  using Packed = std::tuple<remote::Blob, remote::Blob, remote::Links>;
  std::map<std::pair<std::filesystem::path, std::string>, Packed> packed_;
  // By address, version and platform.
  std::map<std::string, std::pair<remote::BundledProvider::Archive, ProviderArchiveHashes>> archives_;
};

}  // namespace modlock
