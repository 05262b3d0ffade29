#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/remote/layout.h"
#include "backends/store/store.h"
#include "plugin/resolve/module_node.h"
#include "protocol/messages/root_params.h"

namespace modlock {

// What Engine::create_bundle() writes.
struct BundleOptions {
  std::vector<messages::RootParams> roots;
  std::filesystem::path output;  // absolute: LayoutWriter::finish()
};

// The content of a bundle.
struct BundleReport {
  struct Package {
    std::string source;  // of the lock entry
    std::string origin;  // "git:…"
    std::string h1;
    std::string manifest;  // the digest, for `oci://HOST/REPOSITORY?digest=`
    std::uint64_t bytes = 0;
    bool has_links = false;  // clients that read it as an OCI package see files instead
  };
  struct Closure {
    std::string tag;
    std::vector<Package> packages;
  };
  std::vector<Closure> closures;  // without duplicates
};

// A bundle that packages are installed from. Its packages are checked with the h1 of the lock, so it need not be
// trusted. They are not added to the store, because a bundle proves nothing about a source. Use from one thread.
class BundleReader {
 public:
  // Errors: those of Layout::open() and Layout::closures(); IO_ERROR.
  static Result<std::unique_ptr<BundleReader>> open(const std::filesystem::path& path, const Store& store,
                                                    const Context& context);
  ~BundleReader();
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;

  // Returns the package of a call with this content, extracted to a directory that exists as long as the reader;
  // nullopt: the bundle does not have it. A package that is damaged is a warning in the log, and nullopt.
  std::optional<LocalPackage> find(const ModuleNode& node, std::string_view h1, const Context& context);

  const remote::Layout& layout() const { return layout_; }
  const std::vector<remote::Layout::NamedClosure>& closures() const { return closures_; }
  // Extracts a package to a new directory, and checks its blobs and its h1. Errors: those of Layout::find(),
  // unpack_archive() and list_tree(); SOURCE_INVALID (the manifest or the links do not match the package);
  // HASH_MISMATCH.
  Result<std::filesystem::path> extract(const remote::BundledPackage& package, const Context& context) const;

 private:
  BundleReader(remote::Layout layout, std::filesystem::path work)
      : layout_(std::move(layout)), work_(std::move(work)) {}

  remote::Layout layout_;
  std::filesystem::path work_;
  std::vector<remote::Layout::NamedClosure> closures_;
};

}  // namespace modlock
