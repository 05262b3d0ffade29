#include "plugin/bundle/bundle_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/backend.h"
#include "backends/base/files.h"
#include "backends/git/objects.h"
#include "backends/git/tree_proof.h"
#include "backends/package/pack.h"
#include "backends/package/tree_hash.h"
#include "plugin/bundle/bundle.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using remote::BundledPackage;
using remote::BundledProvider;

Result<remote::Links> links_of(const fs::path& tree) {
  MODLOCK_TRY(const auto entries, list_tree(tree));
  remote::Links links;
  for (const TreeEntry& entry : entries) {
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(tree / entry.name, error))) {
      links[entry.name] = fs::read_symlink(tree / entry.name, error).string();
    }
    if (error) {
      return fail(Code::io_error, fmt::format("cannot read {}: {}", (tree / entry.name).string(), error.message()));
    }
  }
  return links;
}

Result<std::string> trees_of_repository(const Store& store, const std::string& commit, const ResolvedModule& module,
                                        const SourceAddress& called, const SourceFetcher& fetcher, Context context) {
  context.offline = true;
  const auto known = store.find(called.source, module.id, module.ref);
  MODLOCK_TRY(const auto address, called.source.is_registry() ? parse_source(known ? known->package : "") : called);
  Backend* const backend = fetcher.backend(address.source);
  const std::vector<FetchRequest> requests = {{.id = commit, .ref = {}, .locked = true}};
  MODLOCK_TRY(const auto repository, backend == nullptr ? fail(Code::source_unsupported, "")
                                                        : backend->repository_with(address, requests, context));
  MODLOCK_TRY(const auto reader, git::ObjectReader::open(repository));
  return reader.commit_and_trees(commit);
}

// Returns the commit and trees of a package of git, if they prove the package. They are next to a proven package of
// the cache, else in its repository. Errors: HASH_MISMATCH (it is not the package of the commit).
Result<std::optional<std::string>> trees_of(const Store& store, const ModuleLock& entry, const ResolvedModule& module,
                                            const SourceAddress& called, const SourceFetcher& fetcher,
                                            const Context& context) {
  const std::string commit = entry.hash_value("git");
  if (commit.empty()) {
    return std::nullopt;
  }
  auto objects = read_file(trees_file(module.package_directory));
  objects = objects ? std::move(objects) : trees_of_repository(store, commit, module, called, fetcher, context);
  const auto entries = list_tree(module.package_directory);
  const auto proof = objects && entries ? git::prove_tree(*objects, commit, module.package_directory, *entries)
                                        : Result<git::Proof>(git::Proof::none);
  if (!proof && proof.error().code == Code::hash_mismatch) {
    return fail(Code::hash_mismatch,
                fmt::format("the cached package of {} was changed: {}", entry.source, proof.error().message),
                "find out what writes into the cache; only tofu-modlock should");
  }
  return proof && *proof != git::Proof::none ? std::optional(std::move(*objects)) : std::nullopt;
}

}  // namespace

Result<BundledPackage> BundleWriter::add_package(const ModuleLock& entry, const ResolvedModule& module,
                                                 const SourceAddress& called, const SourceFetcher& fetcher,
                                                 const Context& context) {
  BundledPackage package = bundled_entry(entry);
  package.subdir = module.package_subdir;
  auto& [layer, trees, links] = packed_[{module.package_directory, package.origin}];
  if (layer.digest.empty()) {
    MODLOCK_TRY(links, links_of(module.package_directory));
    MODLOCK_TRY(const auto objects, trees_of(store_, entry, module, called, fetcher, context));
    if (objects) {
      MODLOCK_TRY(trees, writer_.add(*objects));
    }
    context.progress->report(fmt::format("packing {}", entry.source), packed_.size(), 0);
    const auto pack = [directory = module.package_directory, h1 = package.h1, context](const ByteSink& sink) {
      return pack_zip(directory, h1, sink, context);
    };
    // The others are removed with the reader of the bundle that they come from.
    const bool is_in_store = !module.package_directory.string().starts_with(store_.temporary_directory().string());
    MODLOCK_TRY(layer, zips_ == Zips::on_demand && is_in_store ? writer_.add_on_demand(pack) : writer_.add(pack));
  }
  package.layer = layer;
  package.trees = trees;
  package.links = links;
  package.manifest = remote::blob_of(write_package_manifest(package));
  return package;
}

Result<std::vector<BundledProvider>> BundleWriter::add_providers(const ProviderLocks& locks, const std::string& path,
                                                                 const Download& download, const Context& context) {
  std::vector<BundledProvider> providers;
  for (const auto& [address, lock] : locks) {
    if (platforms_.empty()) {
      break;
    }
    BundledProvider provider{.address = address.to_string(), .version = lock.version.to_string(), .archives = {}};
    for (const Platform& platform : platforms_) {
      MODLOCK_TRY(provider.archives[platform.to_string()],
                  add_archive(address, lock, platform, path, download, context));
    }
    providers.push_back(std::move(provider));
  }
  return providers;
}

// Downloads the archive of a provider, once for all roots that have it. It must have a hash of the lock file.
Result<BundledProvider::Archive> BundleWriter::add_archive(const ProviderAddress& address, const ProviderLock& lock,
                                                           const Platform& platform, const std::string& path,
                                                           const Download& download, const Context& context) {
  const std::string display =
      fmt::format("{} {} for {}", address.to_string(), lock.version.to_string(), platform.to_string());
  auto archive = archives_.find(display);
  if (archive == archives_.end()) {
    context.progress->report(fmt::format("downloading {}", display), archives_.size(), 0);
    MODLOCK_TRY(auto layer, writer_.receive([&](BodySink& sink) { return download(address, lock, platform, sink); }));
    MODLOCK_TRY(auto hashes, hash_provider_archive(writer_.file(layer), display, context));
    archive =
        archives_.emplace(display, std::pair(BundledProvider::Archive{std::move(layer), hashes.h1}, hashes)).first;
  }
  const auto& [found, hashes] = archive->second;
  const auto is_listed = [&, &known = hashes](const std::string& hash) {
    return hash == known.zh || hash == known.archive_h1;
  };
  return std::ranges::any_of(lock.hashes, is_listed)
             ? Result<BundledProvider::Archive>(found)
             : fail(Code::hash_mismatch,
                    fmt::format("{} has {}, but {} has neither this hash nor {}", display, hashes.zh, path,
                                hashes.archive_h1),
                    "if the lock file has no hash for this platform, run " +
                        tofu_modlock("lock", "--platform", platform.to_string()) + "; else do not use this archive");
}

}  // namespace modlock
