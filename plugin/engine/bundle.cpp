#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "backends/base/collections.h"
#include "backends/base/parallel.h"
#include "backends/remote/layout.h"
#include "backends/remote/registry_store.h"
#include "plugin/bundle/bundle_writer.h"
#include "plugin/config/config_files.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
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

// Adds the package of an entry without a module call: the source of a Terragrunt unit, or a call in it.
Result<BundledPackage> add_entry(BundleWriter& writer, const PlanRequest& request, const RootFiles& files,
                                 OpenRoot& open, const ModuleLock& entry) {
  MODLOCK_TRY(auto node, node_of_entry(entry));
  const SourceAddress address = node.address;
  MODLOCK_TRY(auto call, plan_single_call(request, std::move(node), open.fetcher(), open.context, files));
  if (!call.is_served) {
    return fail(Code::source_unsupported, fmt::format("{} cannot be bundled: {}", entry.key, entry.source));
  }
  const ResolvedModule module{.version = {},
                              .ref = address.source.is_registry() ? entry.version.value_or("") : "",
                              .id = open.fetcher().backend(address.source)->id_of(entry.hashes),
                              .h1 = "h1:" + entry.hash_value("h1"),
                              .package_directory = std::move(call.package.directory),
                              .package_subdir = std::move(call.package.subdir)};
  return writer.add_package(entry, module, address, open.fetcher(), open.context);
}

Result<void> add_root(const Engine& engine, Run& run, BundleWriter& writer, const messages::RootParams& params) {
  MODLOCK_TRY(auto open, OpenRoot::open(engine, run, params, {}));
  open->context.intact = &writer.intact();
  const PlanRequest request = frozen_plan(*open);
  const RootFiles files(*open, RootFiles::Packages::bundled);  // what is installed may have been changed
  MODLOCK_TRY(check_locked_providers(*open));
  Closure closure;
  const bool is_unit = !has_configuration(open->root.walk.root);  // of Terragrunt: its configuration is elsewhere
  if (!is_unit) {
    MODLOCK_TRY(const auto plan, make_plan(request, open->fetcher(), open->context, files));
    MODLOCK_TRY(check_locked(plan, *open));
    for (const auto& [key, module] : plan.resolved) {
      if (const ModuleLock* entry = find_in(plan.modules, key)) {
        MODLOCK_TRY(auto package, writer.add_package(*entry, module, plan.tree.nodes.at(key).address, open->fetcher(),
                                                     open->context));
        closure.packages.push_back(std::move(package));
      }
    }
    append(run.diagnostics, plan.diagnostics);
  }
  for (const auto& [key, entry] : request.lock.modules) {
    if (is_unit || is_of_host(key)) {
      MODLOCK_TRY(auto package, add_entry(writer, request, files, *open, entry));
      closure.packages.push_back(std::move(package));
    }
  }
  const auto download = [&](const ProviderAddress& address, const ProviderLock& lock, const Platform& platform,
                            BodySink& sink) {
    const auto source = open->network().provider_source(open->root.walk.root);
    auto done = source->download(address, lock.version, platform, sink, open->context);
    return done ? std::move(done) : fail(open->network().with_warnings(std::move(done.error())));
  };
  MODLOCK_TRY(closure.providers,
              writer.add_providers(open->lock.provider_file().providers, open->lock.path, download, open->context));
  return writer.layout().add_closure({closure_tag(open->lock.modules()), std::move(closure)});
}

Result<void> add_roots(const Engine& engine, Run& run, BundleWriter& writer,
                       const std::vector<messages::RootParams>& roots) {
  for (const messages::RootParams& root : roots) {
    if (auto added = add_root(engine, run, writer, root); !added) {
      return fail(with_note(std::move(added.error()), root_note(root)));
    }
  }
  return {};
}

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

// Downloads the closures of root modules, each once, and their packages.
Result<void> pull_closures(const Engine& engine, const PullOptions& options, oci::Registry& registry,
                           const oci::Repository& repository, LayoutWriter& writer, Run& run) {
  constexpr std::size_t kRoots = 32;                              // whose closures are requested at once
  std::map<std::string, std::vector<BundledProvider>> providers;  // in the registry, by tag
  for (std::size_t begin = 0; begin < options.roots.size(); begin += kRoots) {
    const std::size_t size = std::min(kRoots, options.roots.size() - begin);
    std::vector<std::unique_ptr<OpenRoot>> roots;
    std::vector<std::string> tags;
    for (std::size_t i = 0; i < size; ++i) {
      MODLOCK_TRY(auto open, OpenRoot::open(engine, run, options.roots[begin + i], {}));
      MODLOCK_TRY(check_locked_providers(*open));
      const ModuleLocks& modules = open->lock.modules();
      for (const auto& [key, entry] : modules) {
        MODLOCK_TRY(check_entry_allowed(open->root.walk.settings, entry));
      }
      tags.push_back(closure_tag(modules));
      roots.push_back(std::move(open));
    }
    std::vector<Result<std::optional<Closure>>> found(size);
    parallel_for(size, kRoots, [&](std::size_t i) {
      const bool is_first = &*std::ranges::find(tags, tags[i]) == &tags[i];
      if (is_first && providers.count(tags[i]) == 0) {
        found[i] = remote::find_closure(registry, repository, tags[i], roots[i]->context);
      }
    });
    std::vector<remote::WantedClosure> wanted;
    for (std::size_t i = 0; i < size; ++i) {
      wanted.push_back({{tags[i], {}}, &roots[i]->context});
      NamedClosure& one = wanted.back().closure;
      if (providers.count(one.tag) == 0) {
        MODLOCK_TRY(auto closure, std::move(found[i]));
        if (!closure) {
          Error missing{.code = Code::not_found,
                        .message = fmt::format("{} does not have the packages of the lock file {} ({})",
                                               options.address, roots[i]->lock.path, one.tag),
                        .hint = "upload them with " + tofu_modlock("bundle", "push", options.address)};
          return fail(with_note(std::move(missing), root_note(options.roots[begin + i])));
        }
        one.closure = std::move(*closure);
        providers[one.tag] = std::exchange(one.closure.providers, {});
      }
      one.closure.add(locked_providers(providers[one.tag], roots[i]->lock.provider_file().providers));
    }
    MODLOCK_TRY(remote::pull(std::move(wanted), registry, repository, writer));
  }
  return {};
}

}  // namespace

std::string root_note(const messages::RootParams& root) {
  return fmt::format("root module: {}", root.root);
}

Result<void> Engine::create_bundle(const BundleOptions& options, const remote::ClosureSink& sink, Run& run) const {
  MODLOCK_TRY(auto platforms, platforms_of(options));
  MODLOCK_TRY(const auto work, make_work_directory(store()));
  BundleWriter writer(store(), *work, std::move(platforms), BundleWriter::Zips::now);
  MODLOCK_TRY(add_roots(*this, run, writer, options.roots));
  MODLOCK_TRY(writer.layout().finish(options.output, context_for(run)));
  return writer.layout().for_each_closure(sink);
}

Result<remote::PushReport> Engine::push_bundle(const PushOptions& options, Run& run) const {
  const Context context = context_for(run);
  MODLOCK_TRY(const auto repository, bundle_repository(options.address, this->options().plain_http));
  if (context.offline) {
    return fail(Code::offline_miss, "a push sends requests, which offline mode forbids", "run it without --offline");
  }
  MODLOCK_TRY(const auto work, make_work_directory(store()));
  const auto push = [&](const Layout& bundle) {
    const auto network = this->network(run);
    const auto presence = options.check ? remote::Presence::checked : remote::Presence::trusted;
    return remote::push(bundle, *network->oci_registry(), repository, context, remote_, presence)
        .map_error(
            [&](Error error) { return network->with_warnings(with_plain_http_hint(std::move(error), repository)); });
  };
  if (!options.bundle.empty()) {
    MODLOCK_TRY(const auto layout, Layout::open(options.bundle, *work, context));
    return push(layout);
  }
  MODLOCK_TRY(auto platforms, platforms_of(options.created));
  BundleWriter writer(store(), *work, std::move(platforms), BundleWriter::Zips::on_demand);
  MODLOCK_TRY(add_roots(*this, run, writer, options.created.roots));
  MODLOCK_TRY(const auto layout, writer.layout().layout());
  return push(layout);
}

Result<void> Engine::pull_bundle(const PullOptions& options, const remote::ClosureSink& sink, Run& run) const {
  MODLOCK_TRY(const auto repository, bundle_repository(options.address, this->options().plain_http));
  MODLOCK_TRY(const auto work, make_work_directory(store()));
  LayoutWriter writer(*work);
  const auto network = this->network(run);
  if (auto pulled = pull_closures(*this, options, *network->oci_registry(), repository, writer, run); !pulled) {
    return fail(network->with_warnings(with_plain_http_hint(std::move(pulled.error()), repository)));
  }
  MODLOCK_TRY(writer.finish(options.output, context_for(run)));
  return writer.for_each_closure(sink);
}

Result<void> Engine::unpack_bundle(const UnpackOptions& options, const remote::ClosureSink& sink, Run& run) const {
  const Context context = context_for(run);
  MODLOCK_TRY(const auto bundle, open_layout(options.bundle, store(), context));
  return unpack_providers(*bundle, options, sink, context);
}

Result<void> Engine::read_bundle(const std::string& name, bool verify, const remote::ClosureSink& sink,
                                 Run& run) const {
  const Context context = context_for(run);
  MODLOCK_TRY(const auto work, store().work_directory());
  const Verify checks = verify ? Verify::yes : Verify::no;
  if (!name.starts_with("oci://")) {
    MODLOCK_TRY(const auto bundle, open_layout(name, store(), context));
    return read_closures(*bundle, checks, work, sink, context);
  }
  MODLOCK_TRY(const auto repository, bundle_repository(name, options().plain_http));
  const auto network = this->network(run);
  bool is_empty = true;
  const auto count = [&](const NamedClosure& closure) {
    is_empty = false;
    sink(closure);
  };
  const auto bundle = open_repository(network->oci_registry(), repository, context);
  auto read = read_closures(*bundle, checks, work, count, context);
  if (read && is_empty) {
    return fail(Code::not_found, fmt::format("\"{}\" has no bundle", repository.display),
                "push one: " + tofu_modlock("bundle", "push", repository.display));
  }
  return read ? std::move(read)
              : fail(network->with_warnings(with_plain_http_hint(std::move(read.error()), repository)));
}

}  // namespace modlock
