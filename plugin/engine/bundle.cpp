#include "plugin/engine/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/oci/reference.h"
#include "backends/package/pack.h"
#include "backends/package/provider_archive.h"
#include "backends/package/tree_hash.h"
#include "backends/remote/registry_store.h"
#include "plugin/engine/bundle_reader.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using remote::Blob;
using remote::BundledPackage;
using remote::BundledProvider;
using remote::Closure;
using remote::Layout;
using remote::LayoutWriter;
using remote::NamedClosure;

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

// Returns the hash of an archive in lock files.
std::string zh_of(const Blob& layer) {
  return "zh:" + layer.digest.substr(layer.digest.find(':') + 1);
}

class BundleWriter {
 public:
  // `work` is an empty directory of the caller, who removes it.
  BundleWriter(const Engine& engine, Run& run, const fs::path& work, std::vector<Platform> platforms)
      : engine_(engine), run_(run), work_(work), writer_(work / "layout"), platforms_(std::move(platforms)) {}

  Result<void> add_root(const messages::RootParams& params) {
    MODLOCK_TRY(auto open, OpenRoot::open(engine_, run_, params, {}));
    PlanRequest request = frozen_plan(open->root, open->lock, open->context);
    request.installed = {};  // what is installed may have been changed
    MODLOCK_TRY(const auto plan, make_plan(request, open->fetcher(), open->context));
    MODLOCK_TRY(check_locked(plan, open->lock.path, run_));
    Closure closure;
    for (const auto& [key, module] : plan.resolved) {
      const auto entry = plan.modules.find(key);
      if (entry != plan.modules.end()) {
        MODLOCK_TRY(auto package, add_package(entry->second, module, open->context));
        closure.packages.push_back(std::move(package));
      }
    }
    std::sort(closure.packages.begin(), closure.packages.end());
    closure.packages.erase(std::unique(closure.packages.begin(), closure.packages.end()), closure.packages.end());
    MODLOCK_TRY(closure.providers, add_providers(*open));
    const std::string tag = closure_tag(effective_lock(open->lock).modules);
    const auto same =
        std::find_if(closures_.begin(), closures_.end(), [&](const NamedClosure& one) { return one.tag == tag; });
    if (same != closures_.end()) {
      same->closure.add(closure.providers);
    } else {
      closures_.push_back({tag, std::move(closure)});
    }
    return {};
  }

  Result<std::vector<NamedClosure>> finish(const fs::path& output, const Context& context) {
    MODLOCK_TRY(writer_.finish(closures_, output, context));
    return std::move(closures_);
  }

 private:
  Result<BundledPackage> add_package(const ModuleLock& entry, const ResolvedModule& module, const Context& context) {
    BundledPackage package{.source = entry.source,
                           .origin = entry.origin_hash(),
                           .h1 = "h1:" + entry.hash_value("h1"),
                           .subdir = module.package_subdir};
    MODLOCK_TRY(package.links, links_of(module.package_directory));
    Blob& layer = packed_[module.package_directory];
    if (layer.digest.empty()) {
      context.progress->report(fmt::format("packing {}", entry.source), packed_.size(), 0);
      MODLOCK_TRY(layer, writer_.add([&](const ByteSink& sink) {
        return pack_zip(module.package_directory, package.h1, sink, context);
      }));
    }
    package.layer = layer;
    package.manifest = remote::blob_of(write_package_manifest(layer, package.h1));
    return package;
  }

  Result<std::vector<BundledProvider>> add_providers(OpenRoot& open) {
    std::vector<BundledProvider> providers;
    const ProviderLocks locks = platforms_.empty() ? ProviderLocks{} : open.lock.provider_file().providers;
    for (const auto& [address, lock] : locks) {
      BundledProvider provider{.address = address.to_string(), .version = lock.version.to_string(), .archives = {}};
      for (const Platform& platform : platforms_) {
        MODLOCK_TRY(provider.archives[platform.to_string()], add_archive(open, address, lock, platform));
      }
      providers.push_back(std::move(provider));
    }
    return providers;
  }

  // Downloads the archive of a provider, once for all roots that have it. It must have a hash of the lock file.
  Result<BundledProvider::Archive> add_archive(OpenRoot& open, const ProviderAddress& address, const ProviderLock& lock,
                                               const Platform& platform) {
    const std::string display =
        fmt::format("{} {} for {}", address.to_string(), lock.version.to_string(), platform.to_string());
    auto archive = archives_.find(display);
    if (archive == archives_.end()) {
      open.context.progress->report(fmt::format("downloading {}", display), archives_.size(), 0);
      const auto source = open.network().provider_source(open.root.walk.root);
      auto layer = writer_.receive(
          [&](BodySink& sink) { return source->download(address, lock.version, platform, sink, open.context); });
      if (!layer) {
        return fail(open.network().with_warnings(std::move(layer.error())));
      }
      MODLOCK_TRY(auto hashes, hash_provider_archive(writer_.file(*layer), display, work_, open.context));
      archive = archives_.emplace(display, Downloaded{{std::move(*layer), hashes.h1}, hashes}).first;
    }
    const auto& [found, hashes] = archive->second;
    const auto is_listed = [&, &known = hashes](const std::string& hash) {
      return hash == known.zh || hash == known.archive_h1;
    };
    return std::any_of(lock.hashes.begin(), lock.hashes.end(), is_listed)
               ? Result<BundledProvider::Archive>(found)
               : fail(
                     Code::hash_mismatch,
                     fmt::format("{} has {}, but {} has neither this hash nor {}", display, hashes.zh, open.lock.path,
                                 hashes.archive_h1),
                     fmt::format("if the lock file has no hash for this platform, run tofu-modlock lock --platform {}; "
                                 "else do not use this archive",
                                 platform.to_string()));
  }

  struct Downloaded {
    BundledProvider::Archive archive;
    ProviderArchiveHashes hashes;
  };

  const Engine& engine_;
  Run& run_;
  const fs::path work_;
  LayoutWriter writer_;
  const std::vector<Platform> platforms_;  // of providers; empty: without them
  std::map<fs::path, Blob> packed_;
  std::map<std::string, Downloaded> archives_;  // by address, version and platform
  std::vector<NamedClosure> closures_;
};

// Returns the platforms of the providers that a bundle gets.
Result<std::vector<Platform>> platforms_of(const BundleOptions& options) {
  std::vector<Platform> platforms;
  for (const std::string& text : options.platforms) {
    MODLOCK_TRY(auto platform, Platform::parse(text));
    platforms.push_back(std::move(platform));
  }
  if (options.with_providers && platforms.empty()) {
    platforms.push_back(Platform::current());
  }
  return platforms;
}

// Checks the manifest of each archive, its digest and its h1. Errors: those of Layout::find() and
// hash_provider_archive(); HASH_MISMATCH.
Result<void> verify_provider(const Layout& layout, const BundledProvider& provider, const fs::path& work,
                             const Context& context) {
  for (const auto& [platform, archive] : provider.archives) {
    const std::string display = fmt::format("{} {} for {}", provider.address, provider.version, platform);
    MODLOCK_TRY(layout.find(remote::blob_of(write_provider_manifest(archive.layer))));
    MODLOCK_TRY(const auto file, layout.find(archive.layer));
    MODLOCK_TRY(const auto hashes, hash_provider_archive(file, display, work, context));
    if (hashes.h1 != archive.h1) {
      return fail(Code::hash_mismatch,
                  fmt::format("{} has another content: expected {}, got {}", display, archive.h1, hashes.h1),
                  "create the bundle again");
    }
  }
  return {};
}

// Returns the archives that a lock file has a hash of. A closure has also those of earlier lock files with the same
// modules.
std::vector<BundledProvider> locked_providers(const std::vector<BundledProvider>& providers,
                                              const ProviderLocks& locks) {
  std::vector<BundledProvider> found;
  for (BundledProvider provider : providers) {
    const auto lock = std::find_if(locks.begin(), locks.end(), [&](const auto& entry) {
      return entry.first.to_string() == provider.address && entry.second.version.to_string() == provider.version;
    });
    if (lock == locks.end()) {
      continue;
    }
    std::erase_if(provider.archives, [&hashes = lock->second.hashes](const auto& entry) {
      const BundledProvider::Archive& archive = entry.second;
      return std::find(hashes.begin(), hashes.end(), zh_of(archive.layer)) == hashes.end() &&
             std::find(hashes.begin(), hashes.end(), archive.h1) == hashes.end();
    });
    if (!provider.archives.empty()) {
      found.push_back(std::move(provider));
    }
  }
  return found;
}

// Downloads the closures of root modules, each once.
Result<std::vector<NamedClosure>> find_closures(const Engine& engine, const PullOptions& options,
                                                oci::Registry& registry, const oci::Repository& repository, Run& run) {
  std::vector<NamedClosure> closures;
  std::map<std::string, std::vector<BundledProvider>> providers;  // in the registry, by tag
  for (const messages::RootParams& params : options.roots) {
    MODLOCK_TRY(const auto open, OpenRoot::open(engine, run, params, {}));
    const std::string tag = closure_tag(effective_lock(open->lock).modules);
    auto place =
        std::find_if(closures.begin(), closures.end(), [&](const NamedClosure& one) { return one.tag == tag; });
    if (place == closures.end()) {
      MODLOCK_TRY(auto closure, remote::find_closure(registry, repository, tag, open->context));
      if (!closure) {
        return fail(Code::not_found,
                    fmt::format("{} does not have the packages of the lock file {} ({})", options.address,
                                open->lock.path, tag),
                    fmt::format("upload them with tofu-modlock bundle push {}", options.address));
      }
      providers[tag] = std::exchange(closure->providers, {});
      place = closures.insert(closures.end(), {tag, std::move(*closure)});
    }
    place->closure.add(locked_providers(providers[tag], open->lock.provider_file().providers));
  }
  return closures;
}

// Checks the manifest of a package, its blobs and its h1. Errors: those of Layout::find() and extract_package();
// SOURCE_INVALID (the manifest is another one).
Result<void> verify_package(const Layout& layout, const BundledPackage& package, const fs::path& directory,
                            const Context& context) {
  MODLOCK_TRY(const auto manifest, layout.read(package.manifest));
  if (manifest != write_package_manifest(package.layer, package.h1)) {
    return fail(Code::source_invalid,
                fmt::format("the manifest {} does not match its package", package.manifest.digest),
                "create the bundle again");
  }
  MODLOCK_TRY(const auto zip, layout.find(package.layer));
  const auto extracted = extract_package(package, zip, directory, context);
  const auto removed = remove_tree(directory);
  return extracted ? removed : extracted;
}

}  // namespace

Result<oci::Repository> bundle_repository(const std::string& address, bool plain_http) {
  const auto source = parse_source(address);
  if (!source || source->source.kind != SourceKind::oci || address.find('?') != std::string::npos ||
      !source->source.subdir.empty()) {
    return fail(Code::source_invalid, fmt::format("\"{}\" is not a repository of an OCI registry", address),
                "write oci://HOST/REPOSITORY, without a tag");
  }
  MODLOCK_TRY(auto read, oci::read_address(*source));
  return plain_http ? oci::over_plain_http(std::move(read.repository)) : std::move(read.repository);
}

std::string closure_tag(const ModuleLocks& modules) {
  Closure closure;
  for (const auto& [key, entry] : modules) {
    if (key.find(':') == std::string::npos) {
      closure.packages.push_back(
          {.source = entry.source, .origin = entry.origin_hash(), .h1 = "h1:" + entry.hash_value("h1")});
    }
  }
  return closure.tag();
}

messages::Bundle to_message(const std::vector<NamedClosure>& closures) {
  messages::Bundle bundle;
  for (const auto& [tag, closure] : closures) {
    messages::BundledClosure& listed = bundle.closures.emplace_back();
    listed.tag = tag;
    for (const BundledPackage& package : closure.packages) {
      listed.packages.push_back({.source = package.source,
                                 .origin = package.origin,
                                 .h1 = package.h1,
                                 .manifest = package.manifest.digest,
                                 .bytes = package.layer.size,
                                 .has_links = !package.links.empty()});
    }
    for (const BundledProvider& provider : closure.providers) {
      messages::BundledProvider& one = listed.providers.emplace_back();
      one.address = provider.address;
      one.version = provider.version;
      for (const auto& [platform, archive] : provider.archives) {
        one.archives.push_back(
            {.platform = platform, .h1 = archive.h1, .zh = zh_of(archive.layer), .bytes = archive.layer.size});
      }
    }
  }
  return bundle;
}

Result<messages::Bundle> Engine::create_bundle(const BundleOptions& options, Run& run) const {
  MODLOCK_TRY(auto platforms, platforms_of(options));
  MODLOCK_TRY(const auto work, store().make_temporary());
  BundleWriter writer(*this, run, work, std::move(platforms));
  Result<void> added;
  for (std::size_t i = 0; added && i < options.roots.size(); ++i) {
    added = writer.add_root(options.roots[i]);
    if (!added) {
      added = fail(with_note(std::move(added.error()), fmt::format("root module: {}", options.roots[i].root)));
    }
  }
  auto closures = added ? writer.finish(options.output, context_for(run)) : fail(std::move(added.error()));
  (void)remove_tree(work);  // `cache prune` handles a failure
  return closures ? Result<messages::Bundle>(to_message(*closures)) : fail(std::move(closures.error()));
}

Result<messages::Bundle> Engine::read_bundle(const fs::path& path, bool verify, Run& run) const {
  const Context context = context_for(run);
  MODLOCK_TRY(const auto bundle, OpenBundle::open(path, store(), context));
  MODLOCK_TRY(const auto work, store().work_directory());
  for (const auto& [tag, closure] : bundle->closures()) {
    if (verify) {
      for (const BundledPackage& package : closure.packages) {
        MODLOCK_TRY(verify_package(bundle->layout(), package, work / random_hex(8), context));
      }
      for (const BundledProvider& provider : closure.providers) {
        MODLOCK_TRY(verify_provider(bundle->layout(), provider, work, context));
      }
    }
  }
  return to_message(bundle->closures());
}

Result<messages::PushedBundle> Engine::push_bundle(const PushOptions& options, Run& run) const {
  const Context context = context_for(run);
  MODLOCK_TRY(const auto repository, bundle_repository(options.address, this->options().plain_http));
  if (context.offline) {
    return fail(Code::offline_miss, "a push sends requests, which offline mode forbids", "run it without --offline");
  }
  MODLOCK_TRY(const auto work, store().make_temporary());
  const auto push_it = [&]() -> Result<messages::PushedBundle> {
    const fs::path path = options.bundle.empty() ? work / "bundle" : options.bundle;
    if (options.bundle.empty()) {
      BundleOptions created = options.created;
      created.output = path;
      MODLOCK_TRY(create_bundle(created, run));
    }
    MODLOCK_TRY(make_directories(work / "layout"));
    MODLOCK_TRY(const auto layout, Layout::open(path, work / "layout", context));
    const auto network = this->network(run);
    auto pushed = remote::push(layout, *network->oci_registry(), repository, context);
    return pushed ? Result<messages::PushedBundle>({pushed->sent, pushed->present, pushed->providers})
                  : fail(network->with_warnings(with_plain_http_hint(std::move(pushed.error()), repository)));
  };
  auto report = push_it();
  (void)remove_tree(work);  // `cache prune` handles a failure
  return report;
}

Result<messages::Bundle> Engine::pull_bundle(const PullOptions& options, Run& run) const {
  const Context context = context_for(run);
  MODLOCK_TRY(const auto repository, bundle_repository(options.address, this->options().plain_http));
  MODLOCK_TRY(const auto work, store().make_temporary());
  const auto pull_it = [&]() -> Result<messages::Bundle> {
    const auto network = this->network(run);
    const auto registry = network->oci_registry();
    LayoutWriter writer(work);
    auto closures = find_closures(*this, options, *registry, repository, run);
    auto pulled =
        closures ? remote::pull(*closures, *registry, repository, writer, context) : fail(std::move(closures.error()));
    if (!pulled) {
      return fail(network->with_warnings(with_plain_http_hint(std::move(pulled.error()), repository)));
    }
    MODLOCK_TRY(writer.finish(*closures, options.output, context));
    return to_message(*closures);
  };
  auto bundle = pull_it();
  (void)remove_tree(work);  // `cache prune` handles a failure
  return bundle;
}

}  // namespace modlock
