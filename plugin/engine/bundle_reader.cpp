#include "plugin/engine/bundle_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "backends/package/tree_hash.h"
#include "backends/package/unpack.h"
#include "plugin/engine/bundle.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using remote::BundledPackage;
using remote::Layout;

constexpr std::size_t kParallel = 8;

// Puts the links of a package in place of the files that a zip has instead. Returns the digests of the other files.
Result<void> restore_links(const fs::path& tree, const remote::Links& links, FileDigests& digests) {
  std::error_code error;
  for (const auto& [name, target] : links) {
    if (!fs::is_regular_file(fs::symlink_status(tree / name, error))) {
      return fail(Code::source_invalid, fmt::format("a bundled package has no file \"{}\" for a link", name),
                  "create the bundle again");
    }
  }
  for (const auto& [name, target] : links) {
    digests.erase((tree / name).string());
    fs::remove(tree / name, error);
    fs::create_symlink(target, tree / name, error);
    if (error) {
      return fail(Code::io_error,
                  fmt::format("cannot create the link {}: {}", (tree / name).string(), error.message()));
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<BundleReader>> BundleReader::make(const Store& store) {
  MODLOCK_TRY(auto work, store.make_temporary());
  std::unique_ptr<BundleReader> reader(new BundleReader(store, std::move(work)));
  MODLOCK_TRY(make_directories(reader->work_ / "layout"));
  return reader;
}

Result<std::unique_ptr<BundleReader>> BundleReader::open(const fs::path& path, const Store& store,
                                                         const Context& context) {
  MODLOCK_TRY(auto reader, make(store));
  MODLOCK_TRY(reader->layout_, Layout::open(path, reader->work_ / "layout", context));
  MODLOCK_TRY(reader->closures_, reader->layout_->closures());
  return reader;
}

Result<std::unique_ptr<BundleReader>> BundleReader::open(const std::string& address, const ModuleLocks& modules,
                                                         const Network& network, const Store& store,
                                                         const Context& context) {
  MODLOCK_TRY(auto reader, make(store));
  MODLOCK_TRY(auto repository, bundle_repository(address, false));
  reader->remote_ = Remote{.registry = network.oci_registry(), .repository = std::move(repository)};
  const std::string tag = closure_tag(modules);
  MODLOCK_TRY(auto closure,
              remote::find_closure(*reader->remote_->registry, reader->remote_->repository, tag, context));
  if (!closure) {
    return nullptr;
  }
  reader->closures_.push_back({tag, std::move(*closure)});
  return reader;
}

BundleReader::~BundleReader() {
  (void)remove_tree(work_);  // `cache prune` handles a failure
}

void BundleReader::download(const Context& context) {
  remote_->is_downloaded = true;
  std::map<std::string, const BundledPackage*> layers;  // by digest
  for (const BundledPackage& package : closures_.front().closure.packages) {
    if (!store_.find_by_h1(package.h1)) {
      layers.emplace(package.layer.digest, &package);
    }
  }
  std::vector<const BundledPackage*> packages;
  for (const auto& [digest, package] : layers) {
    packages.push_back(package);
  }
  std::atomic<std::size_t> done = 0;
  parallel_for(packages.size(), kParallel, [&](std::size_t i) {
    // A failure is reported when the package is needed.
    (void)find_layer(*packages[i], context);
    context.progress->report(fmt::format("downloading {}", packages[i]->source), ++done, packages.size());
  });
}

Result<fs::path> BundleReader::find_layer(const BundledPackage& package, const Context& context) const {
  if (layout_) {
    return layout_->find(package.layer);
  }
  const fs::path file = work_ / "layout" / package.layer.digest.substr(package.layer.digest.find(':') + 1);
  std::error_code error;
  if (!fs::exists(file, error)) {
    const fs::path unfinished = file.string() + ".tmp";
    MODLOCK_TRY(remote::download(*remote_->registry, remote_->repository, package.layer, unfinished, context));
    fs::rename(unfinished, file, error);
    if (error) {
      return system_failure("rename", unfinished, error.value());
    }
  }
  return file;
}

std::optional<LocalPackage> BundleReader::find(const ModuleNode& node, std::string_view h1, const Context& context) {
  const std::string source = node.address.source.identity();
  for (const auto& [tag, closure] : closures_) {
    const auto package = std::find_if(closure.packages.begin(), closure.packages.end(),
                                      [&](const BundledPackage& one) { return one.h1 == h1 && one.source == source; });
    if (package == closure.packages.end()) {
      continue;
    }
    if (remote_ && !remote_->is_downloaded) {
      download(context);
    }
    auto directory = extract(*package, context);
    if (directory) {
      return LocalPackage{.directory = std::move(*directory), .subdir = package->subdir};
    }
    context.log->write(LogLevel::warning, fmt::format("{}: not installed from the bundle: {} [{}]", node.subject(),
                                                      directory.error().message, to_string(directory.error().code)));
    return std::nullopt;
  }
  return std::nullopt;
}

Result<void> BundleReader::verify(const BundledPackage& package, const Context& context) const {
  MODLOCK_TRY(const auto manifest, layout_->read(package.manifest));
  if (manifest != write_package_manifest(package.layer, package.h1)) {
    return fail(Code::source_invalid,
                fmt::format("the manifest {} is not that of the package", package.manifest.digest),
                "create the bundle again");
  }
  MODLOCK_TRY(const auto directory, extract(package, context));
  return remove_tree(directory);
}

Result<fs::path> BundleReader::extract(const BundledPackage& package, const Context& context) const {
  MODLOCK_TRY(const auto zip, find_layer(package, context));
  const fs::path directory = work_ / random_hex(8);
  MODLOCK_TRY(make_directories(directory));
  MODLOCK_TRY(auto digests, unpack_archive(zip, ArchiveFormat::zip, directory,
                                           fmt::format("the package {}", package.layer.digest), context));
  MODLOCK_TRY(restore_links(directory, package.links, digests));
  MODLOCK_TRY(const auto entries, list_tree(directory));
  MODLOCK_TRY(const auto summary, summarise_entries(entries, digests, context));
  if (const std::string h1 = summary.h1(); h1 != package.h1) {
    return fail(
        Code::hash_mismatch,
        fmt::format("the package {} has another content: expected {}, got {}", package.layer.digest, package.h1, h1),
        "create the bundle again");
  }
  return directory;
}

}  // namespace modlock
