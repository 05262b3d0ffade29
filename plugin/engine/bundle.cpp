#include "plugin/engine/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "backends/address/scrub.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "backends/git/objects.h"
#include "backends/git/tree_proof.h"
#include "backends/oci/reference.h"
#include "backends/package/pack.h"
#include "backends/package/provider_archive.h"
#include "backends/package/tree_hash.h"
#include "backends/remote/registry_store.h"
#include "plugin/config/config_files.h"
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

// Returns whether a lock entry belongs to a host, which has no module call.
bool is_of_host(std::string_view key) {
  return key.find(':') != std::string_view::npos;
}

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
    PlanRequest request = frozen_plan(open->root, open->lock, engine_.store(), open->context);
    request.installed = {};  // what is installed may have been changed
    add_bundle(request, open->bundle(), open->context);
    MODLOCK_TRY(check_locked_providers(open->root, open->lock));
    Closure closure;
    const bool is_unit = !has_configuration(open->root.walk.root);  // of Terragrunt: its configuration is elsewhere
    if (!is_unit) {
      MODLOCK_TRY(const auto plan, make_plan(request, open->fetcher(), open->context));
      MODLOCK_TRY(check_locked(plan, open->root, open->lock, run_, open->context));
      for (const auto& [key, module] : plan.resolved) {
        const auto entry = plan.modules.find(key);
        if (entry != plan.modules.end()) {
          MODLOCK_TRY(auto package, add_package(*open, entry->second, module, plan.tree.nodes.at(key).address));
          closure.packages.push_back(std::move(package));
        }
      }
    }
    for (const auto& [key, entry] : request.lock.modules) {
      if (is_unit || is_of_host(key)) {
        MODLOCK_TRY(auto package, add_entry(request, *open, entry));
        closure.packages.push_back(std::move(package));
      }
    }
    MODLOCK_TRY(closure.providers, add_providers(*open));
    return writer_.add_closure({closure_tag(effective_lock(open->lock).modules), std::move(closure)});
  }

  LayoutWriter& layout() { return writer_; }

 private:
  // Adds the package of an entry without a module call: the source of a Terragrunt unit, or a call in it.
  Result<BundledPackage> add_entry(const PlanRequest& request, OpenRoot& open, const ModuleLock& entry) {
    MODLOCK_TRY(auto node, node_of_entry(entry));
    const SourceAddress address = node.address;
    MODLOCK_TRY(auto call, plan_single_call(request, std::move(node), open.fetcher(), open.context));
    if (!call.is_served) {
      return fail(Code::source_unsupported, fmt::format("{} cannot be bundled: {}", entry.key, entry.source));
    }
    const ResolvedModule module{.version = {},
                                .ref = address.source.is_registry() ? entry.version.value_or("") : "",
                                .id = open.fetcher().backend(address.source)->id_of(entry.hashes),
                                .h1 = "h1:" + entry.hash_value("h1"),
                                .package_directory = std::move(call.package.directory),
                                .package_subdir = std::move(call.package.subdir)};
    return add_package(open, entry, module, address);
  }

  Result<BundledPackage> add_package(OpenRoot& open, const ModuleLock& entry, const ResolvedModule& module,
                                     const SourceAddress& address) {
    const Context& context = open.context;
    BundledPackage package = bundled_entry(entry);
    package.subdir = module.package_subdir;
    MODLOCK_TRY(package.links, links_of(module.package_directory));
    auto& [layer, trees] = packed_[{module.package_directory, package.origin}];
    if (layer.digest.empty()) {
      MODLOCK_TRY(const auto objects, trees_of(open, entry, module, address));
      if (objects) {
        MODLOCK_TRY(trees, writer_.add(*objects));
      }
      context.progress->report(fmt::format("packing {}", entry.source), packed_.size(), 0);
      MODLOCK_TRY(layer, writer_.add([&](const ByteSink& sink) {
        return pack_zip(module.package_directory, package.h1, sink, context);
      }));
    }
    package.layer = layer;
    package.trees = trees;
    package.manifest = remote::blob_of(write_package_manifest(package));
    return package;
  }

  // Returns the commit and trees of a package of git, if they prove the package. They are next to a proven package of
  // the cache, else in its repository. Errors: HASH_MISMATCH (it is not the package of the commit).
  Result<std::optional<std::string>> trees_of(OpenRoot& open, const ModuleLock& entry, const ResolvedModule& module,
                                              const SourceAddress& called) const {
    const std::string commit = entry.hash_value("git");
    if (commit.empty()) {
      return std::nullopt;
    }
    auto objects = read_file(trees_file(module.package_directory));
    objects = objects ? std::move(objects) : trees_of_repository(open, commit, module, called);
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

  Result<std::string> trees_of_repository(OpenRoot& open, const std::string& commit, const ResolvedModule& module,
                                          const SourceAddress& called) const {
    Context context = open.context;
    context.offline = true;
    const auto known = engine_.store().find(called.source, module.id, module.ref);
    MODLOCK_TRY(const auto address, called.source.is_registry() ? parse_source(known ? known->package : "") : called);
    Backend* const backend = open.fetcher().backend(address.source);
    const std::vector<FetchRequest> requests = {{.id = commit, .ref = {}, .locked = true}};
    MODLOCK_TRY(const auto repository, backend == nullptr ? fail(Code::source_unsupported, "")
                                                          : backend->repository_with(address, requests, context));
    MODLOCK_TRY(const auto reader, git::ObjectReader::open(repository));
    return reader.commit_and_trees(commit);
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
  // Zips and trees, by directory and commit: two commits may have the same files.
  std::map<std::pair<fs::path, std::string>, std::pair<Blob, Blob>> packed_;
  std::map<std::string, Downloaded> archives_;  // by address, version and platform
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

// Downloads the closures of root modules, each once, and their packages.
Result<void> pull_closures(const Engine& engine, const PullOptions& options, oci::Registry& registry,
                           const oci::Repository& repository, LayoutWriter& writer, Run& run) {
  std::map<std::string, std::vector<BundledProvider>> providers;  // in the registry, by tag
  for (const messages::RootParams& params : options.roots) {
    MODLOCK_TRY(const auto open, OpenRoot::open(engine, run, params, {}));
    MODLOCK_TRY(check_locked_providers(open->root, open->lock));
    for (const auto& [key, entry] : effective_lock(open->lock).modules) {
      MODLOCK_TRY(check_entry_allowed(open->root.walk.settings, entry));
    }
    NamedClosure wanted{closure_tag(effective_lock(open->lock).modules), {}};
    if (providers.count(wanted.tag) == 0) {
      MODLOCK_TRY(auto closure, remote::find_closure(registry, repository, wanted.tag, open->context));
      if (!closure) {
        Error missing{.code = Code::not_found,
                      .message = fmt::format("{} does not have the packages of the lock file {} ({})", options.address,
                                             open->lock.path, wanted.tag),
                      .hint = fmt::format("upload them with tofu-modlock bundle push {}", options.address)};
        return fail(with_note(std::move(missing), root_note(params)));
      }
      wanted.closure = std::move(*closure);
      providers[wanted.tag] = std::exchange(wanted.closure.providers, {});
    }
    wanted.closure.add(locked_providers(providers[wanted.tag], open->lock.provider_file().providers));
    MODLOCK_TRY(remote::pull(wanted, registry, repository, writer, open->context));
    MODLOCK_TRY(writer.add_closure(std::move(wanted)));
  }
  return {};
}

}  // namespace

Result<oci::Repository> bundle_repository(const std::string& address, bool plain_http) {
  constexpr std::string_view kOci = "oci://";
  const std::size_t at = address.find('@');
  const std::size_t path = address.find('/', address.starts_with(kOci) ? kOci.size() : 0);
  if (at != std::string::npos && (at < path || !std::string_view(address).substr(at).starts_with("@sha256:"))) {
    return fail(Code::source_invalid, "the address of a repository must not contain a user or password",
                "write oci://HOST/REPOSITORY, and log in: docker login HOST, or podman login HOST");
  }
  const auto source = parse_source(address);
  if (!source || source->source.kind != SourceKind::oci || address.find('?') != std::string::npos ||
      !source->source.subdir.empty()) {
    return fail(Code::source_invalid, fmt::format("\"{}\" is not a repository of an OCI registry", scrub_urls(address)),
                "write oci://HOST/REPOSITORY, without a tag");
  }
  MODLOCK_TRY(auto read, oci::read_address(*source));
  return plain_http ? oci::over_plain_http(std::move(read.repository)) : std::move(read.repository);
}

std::string root_note(const messages::RootParams& root) {
  return fmt::format("root module: {}", root.root);
}

BundledPackage bundled_entry(const ModuleLock& entry) {
  return {.source = entry.source, .origin = entry.origin_hash(), .h1 = "h1:" + entry.hash_value("h1")};
}

std::string closure_tag(const ModuleLocks& modules) {
  Closure closure;
  for (const auto& [key, entry] : modules) {
    closure.packages.push_back(bundled_entry(entry));
  }
  return closure.tag();
}

messages::BundledClosure to_message(const NamedClosure& named) {
  messages::BundledClosure listed{.tag = named.tag, .packages = {}, .providers = {}};
  for (const BundledPackage& package : named.closure.packages) {
    listed.packages.push_back({.source = package.source,
                               .origin = package.origin,
                               .h1 = package.h1,
                               .manifest = package.manifest.digest,
                               .bytes = package.layer.size,
                               .has_links = !package.links.empty()});
  }
  for (const BundledProvider& provider : named.closure.providers) {
    messages::BundledProvider& one = listed.providers.emplace_back();
    one.address = provider.address;
    one.version = provider.version;
    for (const auto& [platform, archive] : provider.archives) {
      one.archives.push_back(
          {.platform = platform, .h1 = archive.h1, .zh = zh_of(archive.layer), .bytes = archive.layer.size});
    }
  }
  return listed;
}

Result<void> Engine::create_bundle(const BundleOptions& options, const remote::ClosureSink& sink, Run& run) const {
  MODLOCK_TRY(auto platforms, platforms_of(options));
  MODLOCK_TRY(const auto work, store().make_temporary());
  BundleWriter writer(*this, run, work, std::move(platforms));
  Result<void> written;
  for (std::size_t i = 0; written && i < options.roots.size(); ++i) {
    written = writer.add_root(options.roots[i]);
    if (!written) {
      written = fail(with_note(std::move(written.error()), root_note(options.roots[i])));
    }
  }
  written = written.and_then([&] { return writer.layout().finish(options.output, context_for(run)); });
  written = written.and_then([&] { return writer.layout().for_each_closure(sink); });
  (void)remove_tree(work);  // `cache prune` handles a failure
  return written;
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
      MODLOCK_TRY(create_bundle(
          created, [](const NamedClosure&) {}, run));
    }
    MODLOCK_TRY(make_directories(work / "layout"));
    MODLOCK_TRY(const auto layout, Layout::open(path, work / "layout", context));
    const auto network = this->network(run);
    const auto presence = options.check ? remote::Presence::checked : remote::Presence::trusted;
    auto pushed = remote::push(layout, *network->oci_registry(), repository, context, remote_, presence);
    return pushed ? Result<messages::PushedBundle>({pushed->sent, pushed->present, pushed->providers})
                  : fail(network->with_warnings(with_plain_http_hint(std::move(pushed.error()), repository)));
  };
  auto report = push_it();
  (void)remove_tree(work);  // `cache prune` handles a failure
  return report;
}

Result<void> Engine::pull_bundle(const PullOptions& options, const remote::ClosureSink& sink, Run& run) const {
  MODLOCK_TRY(const auto repository, bundle_repository(options.address, this->options().plain_http));
  MODLOCK_TRY(const auto work, store().make_temporary());
  LayoutWriter writer(work);
  const auto network = this->network(run);
  auto pulled = pull_closures(*this, options, *network->oci_registry(), repository, writer, run);
  if (!pulled) {
    pulled = fail(network->with_warnings(with_plain_http_hint(std::move(pulled.error()), repository)));
  }
  pulled = pulled.and_then([&] { return writer.finish(options.output, context_for(run)); });
  pulled = pulled.and_then([&] { return writer.for_each_closure(sink); });
  (void)remove_tree(work);  // `cache prune` handles a failure
  return pulled;
}

}  // namespace modlock
