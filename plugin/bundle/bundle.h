#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "backends/oci/registry.h"
#include "backends/remote/closure.h"
#include "backends/store/store.h"
#include "plugin/lock/lock_file.h"
#include "protocol/base/result.h"

namespace modlock {

// An OCI image layout, or a repository of an OCI registry, with locked packages and providers. read() and find() may be
// called from any thread, and closure() too if the bundle has no times.
class Bundle {
 public:
  virtual ~Bundle() = default;
  // Returns the tags of all closures. Errors: those of oci::Registry::tags().
  virtual Result<std::vector<std::string>> tags() = 0;
  // Returns the closure with this tag; nullopt: there is none. Errors: those of Layout::closure() or
  // remote::find_closure().
  virtual Result<std::optional<remote::Closure>> closure(const std::string& tag) = 0;
  // Returns the packages of lock entries (bundled_entry()), of any closure. Errors: as for closure(), one for each
  // package or for all of them; from a repository NOT_FOUND if some are missing.
  struct Found {
    std::vector<remote::BundledPackage> packages = {};
    std::vector<Error> errors = {};
  };
  virtual Found find_packages(const std::set<remote::BundledPackage>& entries) = 0;
  // Returns the content of a manifest with this digest. `provider` is empty for a module package. Errors: those of
  // Layout::read() or oci::Registry::manifest().
  virtual Result<std::string> read(const remote::Blob& manifest, const std::string& provider) const = 0;
  // Returns the file of a blob with this digest, which may be `download`, a new one. Errors: those of Layout::find() or
  // remote::download().
  virtual Result<std::filesystem::path> find(const remote::Blob& blob, const std::string& provider,
                                             const std::filesystem::path& download) const = 0;
};

// Opens a directory or a tar archive, whose extracted files exist as long as the object. `context` outlives it. Errors:
// those of Layout::open(); IO_ERROR.
Result<std::unique_ptr<Bundle>> open_layout(const std::filesystem::path& path, const Store& store,
                                            const Context& context);

// How long a repository may take for a closure and the tags, and for the first packages: download_time().
struct BundleTimes {
  std::chrono::seconds index{10};
  std::chrono::seconds packages{30};
};
// The repository gets `times`, which start at closure(); without them 60 s for each blob (download_time()): TIMEOUT.
// `context` limits the requests; the sources that it allows do not. Errors: those of oci::Registry.
std::unique_ptr<Bundle> open_repository(std::unique_ptr<oci::Registry> registry, oci::Repository repository,
                                        Context context, std::optional<BundleTimes> times = {});

// Returns how long a repository may take to send packages: at least this, and one second for each MiB, at most 10
// minutes.
std::chrono::seconds download_time(std::uint64_t bytes, std::chrono::seconds at_least);

// Returns the repository of "oci://HOST/REPOSITORY". Errors: SOURCE_INVALID, without the secrets of the address; with
// `plain_http` those of oci::over_plain_http().
Result<oci::Repository> bundle_repository(const std::string& address, bool plain_http);

// Adds how to use plain http to the error of a registry on this machine that does not use TLS.
Error with_plain_http_hint(Error error, const oci::Repository& repository);

// Makes an empty directory in the store, which is removed with the last reference to it. Errors: IO_ERROR.
Result<std::shared_ptr<const std::filesystem::path>> make_work_directory(const Store& store);

// Returns what a bundle calls the package of a lock entry, without its blobs.
remote::BundledPackage bundled_entry(const ModuleLock& entry);

// Returns the commit of a package of git; empty for the others.
std::string commit_of(const remote::BundledPackage& package);

// Returns the tag of the closure of a lock file: Closure::tag() of its entries.
std::string closure_tag(const ModuleLocks& modules);

// Returns the archives that a lock file has a hash of. A closure has also those of earlier lock files with the same
// modules.
std::vector<remote::BundledProvider> locked_providers(const std::vector<remote::BundledProvider>& providers,
                                                      const ProviderLocks& locks);

// Returns the hash of an archive in lock files.
std::string zh_of(const remote::BundledProvider::Archive& archive);

// A package on disk, whose h1 is that of the lock file.
struct ExtractedPackage {
  std::string modes;       // hash_modes()
  bool is_proven = false;  // content and modes are those of the commit
};

// Extracts the zip of a package to `directory`, a new one, and restores its links. Compares the result with its trees,
// if it has them. Errors: those of unpack_archive(), list_tree() and refuse_override(); SOURCE_INVALID (the links do
// not match the package); HASH_MISMATCH (another h1, or it does not match its trees).
Result<ExtractedPackage> extract_package(const remote::BundledPackage& package, const std::filesystem::path& zip,
                                         const std::filesystem::path& trees, const std::filesystem::path& directory,
                                         const Context& context);

// Returns the file with the commit and trees of a proven package of the store (Store::find_proven()), even if it does
// not exist.
std::filesystem::path trees_file(const std::filesystem::path& package);

enum class Verify { no, yes };

// Reads the closures of a bundle a few at a time, so that only those are in memory. With Verify::yes it checks every
// digest and every h1 in new directories below `work`, which it removes. Errors: those of Bundle; with Verify::yes also
// those of extract_package() and hash_provider_archive(), HASH_MISMATCH, and SOURCE_INVALID (the manifest of another
// package).
Result<void> read_closures(Bundle& bundle, Verify verify, const std::filesystem::path& work,
                           const remote::ClosureSink& sink, const Context& context);

// What unpack_providers() writes. All are absolute.
struct UnpackOptions {
  std::filesystem::path bundle;             // a directory or a tar archive
  std::filesystem::path provider_mirror;    // a directory
  std::filesystem::path cli_configuration;  // a file
};

// Writes the providers of a layout as a filesystem mirror, and a CLI configuration that names it. Nothing outside of
// these two paths is written. `sink` receives the closures, without their packages, after that. Errors: those of
// read_closures() and remote::providers_of(); INVALID_PARAMS (a file has other content, a directory of the mirror is a
// link, or the bundle has no providers); IO_ERROR.
Result<void> unpack_providers(Bundle& bundle, const UnpackOptions& options, const remote::ClosureSink& sink,
                              const Context& context);

}  // namespace modlock
