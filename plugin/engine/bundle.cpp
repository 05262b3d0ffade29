#include "plugin/engine/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/oci/reference.h"
#include "backends/package/pack.h"
#include "backends/package/tree_hash.h"
#include "plugin/engine/bundle_reader.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using remote::Blob;
using remote::BundledPackage;
using remote::Closure;
using remote::Layout;
using remote::LayoutWriter;

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

class BundleWriter {
 public:
  BundleWriter(const Engine& engine, Run& run, LayoutWriter writer)
      : engine_(engine), run_(run), writer_(std::move(writer)) {}

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
    if (const std::string tag = closure_tag(effective_lock(open->lock).modules); tags_.insert(tag).second) {
      const std::string text = write_closure(closure);
      if (text.size() > remote::kManifestLimit) {
        return fail(Code::limit_exceeded,
                    fmt::format("the index of {} packages is larger than 4 MiB", closure.packages.size()),
                    "bundle a root module with fewer module calls");
      }
      MODLOCK_TRY(const auto index, writer_.add(text));
      tagged_.push_back({tag, index});
      closures_.push_back({tag, std::move(closure)});
    }
    return {};
  }

  Result<std::vector<Layout::NamedClosure>> finish(const fs::path& output, const Context& context) {
    MODLOCK_TRY(writer_.add(remote::kEmptyConfig));
    MODLOCK_TRY(writer_.finish(tagged_, output, context));
    return std::move(closures_);
  }

 private:
  Result<BundledPackage> add_package(const ModuleLock& entry, const ResolvedModule& module, const Context& context) {
    BundledPackage package{.source = entry.source,
                           .origin = entry.origin_hash(),
                           .h1 = "h1:" + entry.hash_value("h1"),
                           .subdir = module.package_subdir};
    MODLOCK_TRY(package.links, links_of(module.package_directory));
    auto& blobs = packed_[module.package_directory];
    if (blobs.first.digest.empty()) {
      context.progress->report(fmt::format("packing {}", entry.source), packed_.size(), 0);
      MODLOCK_TRY(blobs.first, writer_.add([&](const ByteSink& sink) {
        return pack_zip(module.package_directory, package.h1, sink, context);
      }));
      MODLOCK_TRY(blobs.second, writer_.add(write_package_manifest(blobs.first, package.h1)));
    }
    std::tie(package.layer, package.manifest) = blobs;
    return package;
  }

  const Engine& engine_;
  Run& run_;
  LayoutWriter writer_;
  std::map<fs::path, std::pair<Blob, Blob>> packed_;  // layer and manifest
  std::set<std::string> tags_;
  std::vector<remote::TaggedClosure> tagged_;
  std::vector<Layout::NamedClosure> closures_;
};

BundleReport report_of(const std::vector<Layout::NamedClosure>& closures) {
  BundleReport report;
  for (const auto& [tag, closure] : closures) {
    BundleReport::Closure& listed = report.closures.emplace_back(BundleReport::Closure{.tag = tag, .packages = {}});
    for (const BundledPackage& package : closure.packages) {
      listed.packages.push_back({.source = package.source,
                                 .origin = package.origin,
                                 .h1 = package.h1,
                                 .manifest = package.manifest.digest,
                                 .bytes = package.layer.size,
                                 .has_links = !package.links.empty()});
    }
  }
  return report;
}

}  // namespace

Result<oci::Repository> bundle_repository(const std::string& address) {
  MODLOCK_TRY(const auto source, parse_source(address));
  if (source.source.kind != SourceKind::oci || address.find('?') != std::string::npos ||
      !source.source.subdir.empty()) {
    return fail(Code::source_invalid, fmt::format("\"{}\" is not a repository of an OCI registry", address),
                "write oci://HOST/REPOSITORY, without a tag");
  }
  MODLOCK_TRY(auto read, oci::read_address(source));
  return std::move(read.repository);
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

Result<BundleReport> Engine::create_bundle(const BundleOptions& options, Run& run) const {
  MODLOCK_TRY(const auto work, store().make_temporary());
  BundleWriter writer(*this, run, LayoutWriter(work));
  Result<void> added;
  for (std::size_t i = 0; added && i < options.roots.size(); ++i) {
    added = writer.add_root(options.roots[i]);
    if (!added) {
      added = fail(with_note(std::move(added.error()), fmt::format("root module: {}", options.roots[i].root)));
    }
  }
  auto closures = added ? writer.finish(options.output, context_for(run)) : fail(std::move(added.error()));
  (void)remove_tree(work);  // `cache prune` handles a failure
  return closures ? Result<BundleReport>(report_of(*closures)) : fail(std::move(closures.error()));
}

Result<BundleReport> Engine::read_bundle(const fs::path& path, bool verify, Run& run) const {
  const Context context = context_for(run);
  MODLOCK_TRY(const auto reader, BundleReader::open(path, store(), context));
  for (const auto& [tag, closure] : reader->closures()) {
    for (const BundledPackage& package : verify ? closure.packages : std::vector<BundledPackage>()) {
      MODLOCK_TRY(reader->verify(package, context));
    }
  }
  return report_of(reader->closures());
}

Result<remote::PushReport> Engine::push_bundle(const PushOptions& options, Run& run) const {
  const Context context = context_for(run);
  MODLOCK_TRY(const auto repository, bundle_repository(options.address));
  if (context.offline) {
    return fail(Code::offline_miss, "a push sends requests, which offline mode forbids", "run it without --offline");
  }
  MODLOCK_TRY(const auto work, store().make_temporary());
  const auto push_it = [&]() -> Result<remote::PushReport> {
    const fs::path path = options.bundle.empty() ? work / "bundle" : options.bundle;
    if (options.bundle.empty()) {
      MODLOCK_TRY(create_bundle({.roots = options.roots, .output = path}, run));
    }
    MODLOCK_TRY(make_directories(work / "layout"));
    MODLOCK_TRY(const auto layout, Layout::open(path, work / "layout", context));
    const auto network = this->network(run);
    auto pushed = remote::push(layout, *network->oci_registry(), repository, context);
    return pushed ? std::move(pushed) : fail(network->with_warnings(std::move(pushed.error())));
  };
  auto report = push_it();
  (void)remove_tree(work);  // `cache prune` handles a failure
  return report;
}

}  // namespace modlock
