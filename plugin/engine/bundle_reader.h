#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/oci/registry.h"
#include "backends/remote/layout.h"
#include "backends/remote/registry_store.h"
#include "backends/store/store.h"
#include "plugin/engine/network.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_node.h"
#include "protocol/base/result.h"

namespace modlock {

// A bundle that packages are installed from: a directory, a file, or a repository of an OCI registry. Packages are
// checked with the h1 of the lock, so it need not be trusted. They are not added to the store, because a bundle proves
// nothing about a source. Use from one thread.
class BundleReader {
 public:
  // Errors: those of Layout::open() and Layout::closures(); IO_ERROR.
  static Result<std::unique_ptr<BundleReader>> open(const std::filesystem::path& path, const Store& store,
                                                    const Context& context);
  // Opens the closure of a lock file in a repository, with one request. nullptr: the repository does not have it.
  // Errors: those of bundle_repository() and find_closure(); IO_ERROR.
  static Result<std::unique_ptr<BundleReader>> open(const std::string& address, const ModuleLocks& modules,
                                                    const Network& network, const Store& store, const Context& context);
  ~BundleReader();
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;

  // Returns the package of a call with this content, extracted to a directory that exists as long as the reader;
  // nullopt: the bundle does not have it. A package that is damaged is a warning in the log, and nullopt. The first
  // call downloads all packages of a repository that the store lacks, in parallel.
  std::optional<LocalPackage> find(const ModuleNode& node, std::string_view h1, const Context& context);

  const std::vector<remote::NamedClosure>& closures() const { return closures_; }
  const remote::Layout& layout() const { return *layout_; }
  // Checks a package of a directory or file: its manifest, its blobs and its h1. Errors: those of Layout::find(),
  // unpack_archive() and list_tree(); SOURCE_INVALID (the manifest or the links do not match the package);
  // HASH_MISMATCH.
  Result<void> verify(const remote::BundledPackage& package, const Context& context) const;

 private:
  struct Remote {
    std::unique_ptr<oci::Registry> registry;
    oci::Repository repository;
    bool is_downloaded = false;
  };

  BundleReader(const Store& store, std::filesystem::path work) : store_(store), work_(std::move(work)) {}
  static Result<std::unique_ptr<BundleReader>> make(const Store& store);
  void download(const Context& context);
  Result<std::filesystem::path> find_layer(const remote::BundledPackage& package, const Context& context) const;
  Result<std::filesystem::path> extract(const remote::BundledPackage& package, const Context& context) const;

  const Store& store_;
  const std::filesystem::path work_;
  std::optional<remote::Layout> layout_;
  std::optional<Remote> remote_;
  std::vector<remote::NamedClosure> closures_;
};

}  // namespace modlock
