#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace modlock::remote {

// A blob of an OCI image layout or of a registry.
struct Blob {
  std::string digest;      // "sha256:" and 64 lower-case hexadecimal digits
  std::uint64_t size = 0;  // bytes

  auto operator<=>(const Blob&) const = default;
};

// The largest manifest or index that registries and clients accept: 4 MiB.
inline constexpr std::size_t kManifestLimit = std::size_t{4} << 20U;

// The largest blob with the trees of a package.
inline constexpr std::size_t kTreesLimit = std::size_t{4} << 20U;

// The names and targets of the links of a package. A zip has their content as regular files.
using Links = std::map<std::string, std::string>;

// A module package of a bundle: a lock entry and the blobs of its content.
struct BundledPackage {
  std::string source;       // Source::identity() of the lock entry, which has no secrets
  std::string origin;       // ModuleLock::origin_hash(): "git:…", "oci:sha256:…", "zh:…"
  std::string h1;           // "h1:…"
  std::string subdir = {};  // Package::subdir: the directory of the module according to the registry
  Links links = {};
  Blob layer = {};     // the zip
  Blob trees = {};     // the commit and trees that prove kinds and executable bits; no digest: there are none
  Blob manifest = {};  // the OCI image manifest that a stock OpenTofu accepts as a module package

  // Returns the source without the directory of the module and without the ref of git, which only name a part or a
  // version of the package: calls with the same package share its manifest.
  std::string package_source() const;
  // Returns the tag of the manifest: "module-" and 64 hexadecimal digits. It depends only on package_source(), origin
  // and h1, which a lock entry contains.
  std::string tag() const;

  auto operator<=>(const BundledPackage&) const = default;
};

// A version of a provider in a bundle.
struct BundledProvider {
  struct Archive {
    Blob layer;      // the zip of the release
    std::string h1;  // "h1:…" of the directory that a client unpacks it to

    auto operator<=>(const Archive&) const = default;
  };
  std::string address;                      // "registry.opentofu.org/hashicorp/null"
  std::string version;                      // "3.2.0"
  std::map<std::string, Archive> archives;  // by platform: "linux_amd64"

  // Returns the tag of the version in a repository of the provider: "+" is not allowed in tags.
  std::string tag() const;

  auto operator<=>(const BundledProvider&) const = default;
};

// All packages of one lock file, sorted, without duplicates.
struct Closure {
  std::vector<BundledPackage> packages;
  std::vector<BundledProvider> providers = {};  // sorted, each version once

  // Returns the tag of the closure: "closure-" and 64 hexadecimal digits. It depends only on source, origin and h1 of
  // the packages, which a lock file contains. Providers do not change it, so that a reader without them finds it.
  std::string tag() const;
  // Adds providers; archives that it has already stay.
  void add(const std::vector<BundledProvider>& more);
};

// A closure and the tag of its lock file.
struct NamedClosure {
  std::string tag;
  Closure closure;
};

// Receives the closures of a bundle one at a time, so that only one is in memory.
using ClosureSink = std::function<void(const NamedClosure&)>;

// Returns the providers of closures, each version once. Errors: HASH_MISMATCH naming both digests, if a version has two
// archives for one platform, which a mirror or a registry cannot hold.
Result<std::vector<BundledProvider>> providers_of(const std::vector<NamedClosure>& closures);

inline constexpr std::string_view kImageManifest = "application/vnd.oci.image.manifest.v1+json";
inline constexpr std::string_view kImageIndex = "application/vnd.oci.image.index.v1+json";

// The empty config blob of the OCI image specification: "{}".
inline constexpr std::string_view kEmptyConfig = "{}";

// Returns the descriptor of these bytes.
Blob blob_of(std::string_view bytes);

// Returns the manifest of a module package. Its annotations are those of the closure, with package_source(), so that a
// reader needs only the manifest and the layer.
std::string write_package_manifest(const BundledPackage& package);
// Reads write_package_manifest(). Errors: SOURCE_INVALID naming `what`, as for read_closure().
Result<BundledPackage> read_package_manifest(std::string_view text, std::string_view what);

// Returns the manifest of the archive of one platform, and the index of a version, that an `oci_mirror` of OpenTofu
// accepts. The index names the manifests.
std::string write_provider_manifest(const Blob& layer);
std::string write_provider_index(const BundledProvider& provider);
// Returns an index with the platforms of both, where those of `own` take precedence. `present` may be anything: what
// is not an index of a provider adds nothing.
std::string merge_provider_indexes(std::string_view own, std::string_view present);

// Returns the index of a closure. Its annotations list the layers, so that a reader needs only the index and the
// layers. Providers are an annotation of the whole, because a registry would search entries in this repository.
std::string write_closure(const Closure& closure);

// Reads write_closure(). Errors: SOURCE_INVALID naming `what`: not JSON, another media or artifact type, a descriptor
// without one of the annotations, or with an invalid digest, size, hash, link or subdirectory.
Result<Closure> read_closure(std::string_view text, std::string_view what);

// An entry of the `index.json` of an OCI image layout.
struct TaggedClosure {
  std::string tag;
  Blob index;
};
// Writes and reads `index.json`. The index of each provider of the closures is an entry too, by its name
// "HOST/NAMESPACE/TYPE:TAG". Reading ignores entries that are not closures, and repeated tags and indexes. Errors:
// SOURCE_INVALID naming `what`: not an index, or without a closure.
std::string write_layout_index(const std::vector<TaggedClosure>& closures,
                               const std::vector<BundledProvider>& providers);
Result<std::vector<TaggedClosure>> read_layout_index(std::string_view text, std::string_view what);

}  // namespace modlock::remote
