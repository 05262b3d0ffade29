#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/oci/registry.h"
#include "backends/remote/closure.h"
#include "backends/remote/layout.h"
#include "backends/store/store.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_node.h"
#include "protocol/base/result.h"

namespace modlock {

// Where the closures and layers of a bundle are. `work` is a directory of the reader for its files.
class BundlePlace {
 public:
  virtual ~BundlePlace() = default;
  // Returns the closures to search. Called once, before find(). Errors: those of the place; SOURCE_INVALID.
  virtual Result<std::vector<remote::NamedClosure>> closures(const std::filesystem::path& work) = 0;
  // Returns the packages that the place has of lock entries that no closure lists (bundled_entry()). Errors: as for
  // closures(), one for each package or for all of them; NOT_FOUND if some are missing.
  struct Found {
    std::vector<remote::BundledPackage> packages = {};
    std::vector<Error> errors = {};
  };
  virtual Found find_packages(const std::set<remote::BundledPackage>& /*entries*/) { return {}; }
  // Returns the file of a layer of a package, with its digest checked. May be called from any thread. Errors: those of
  // the place; HASH_MISMATCH and SOURCE_INVALID, which name the digest.
  virtual Result<std::filesystem::path> find(const remote::Blob& layer, const std::filesystem::path& work) = 0;
};

// Returns how long a remote store may take to send packages: at least this, and one second for each MiB, at most 10
// minutes.
std::chrono::seconds download_time(std::uint64_t bytes, std::chrono::seconds at_least);

// Adds how to use plain http to the error of a registry on this machine that does not use TLS.
Error with_plain_http_hint(Error error, const oci::Repository& repository);

// A directory or a tar archive: its closure with this tag, and packages of its other closures. `context` outlives the
// place.
std::unique_ptr<BundlePlace> make_layout_place(std::filesystem::path path, std::string tag, const Context& context);
// How long a repository may take for the closure and the tags, and for the first packages: download_time().
struct PlaceTimes {
  std::chrono::seconds index{10};
  std::chrono::seconds packages{30};
};
// The closure with this tag in a repository, and packages by their own tags. The repository gets `times`: TIMEOUT.
// Errors: those of oci::Registry. `context` limits the requests; the sources that it allows do not.
std::unique_ptr<BundlePlace> make_registry_place(std::unique_ptr<oci::Registry> registry, oci::Repository repository,
                                                 std::string tag, Context context, PlaceTimes times = {});

// A directory or a tar archive, with the files that were extracted for it.
class OpenBundle {
 public:
  // Errors: those of Layout::open(); IO_ERROR.
  static Result<std::unique_ptr<OpenBundle>> open(const std::filesystem::path& path, const Store& store,
                                                  const Context& context);
  ~OpenBundle();
  OpenBundle(const OpenBundle&) = delete;
  OpenBundle& operator=(const OpenBundle&) = delete;

  const remote::Layout& layout() const { return *layout_; }

 private:
  explicit OpenBundle(std::filesystem::path work) : work_(std::move(work)) {}

  const std::filesystem::path work_;
  std::optional<remote::Layout> layout_;
};

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

// A bundle that packages of one lock file are installed from. Nothing is read, and no request is sent, before the first
// package is needed. A package is used only for a source and commit for which the bundle lists it: its writer is
// trusted with that, and it is never recorded as proof. Content is checked with the h1 of the lock. Only packages that
// are proven to be the content of the locked commit are added to the store (Store::admit_proven()). Use from one
// thread.
class BundleReader {
 public:
  enum class Role {
    named,  // by the command: damage is an error, after everything else was done
    store   // by the user's settings: damage is a warning
  };
  struct Options {
    std::unique_ptr<BundlePlace> place = {};  // null: only, in offline mode, what others listed before
    std::string name = {};                    // a path or "oci://HOST/REPOSITORY", for messages
    Role role = Role::named;
    ModuleLocks modules = {};  // entries whose packages are read together when the first package is needed
    // Whether the bundle could not be reached. Shared by all readers of a run, so that only one of them waits and
    // warns.
    std::atomic<bool>* is_down = nullptr;
  };
  BundleReader(Options options, const Store& store);
  ~BundleReader();
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;

  // Returns the package of a call with this content, extracted to a directory that exists as long as the reader;
  // nullopt: the bundle does not have it. A failure is a warning in the log, except for damage(), and nullopt. The
  // first call extracts all packages of Options::modules that the store lacks, in parallel.
  std::optional<LocalPackage> find(const ModuleNode& node, std::string_view h1, const Context& context);

  // Lets find() serve calls whose entries the lock file lost, if it has none for them. They are not read ahead.
  void add_entries(const ModuleLocks& modules) { options_.modules.insert(modules.begin(), modules.end()); }

  // Returns whether the bundle lists a package of a lock entry; nullopt: the bundle cannot be read, which is reported
  // as for find(). Needs a place.
  std::optional<bool> lists(const ModuleLock& entry, const Context& context);

  bool has_place() const { return options_.place != nullptr; }
  const std::string& name() const { return options_.name; }
  // Returns the first damage of a named bundle: HASH_MISMATCH, SOURCE_INVALID, or another error of a package.
  const std::optional<Error>& damage() const { return damage_; }
  // Returns why the bundle could not be reached.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  Result<void> open();
  void open_once(const Context& context);
  void extract_needed(const Context& context);
  std::vector<const remote::BundledPackage*> take_listed(std::set<remote::BundledPackage>& entries) const;
  std::optional<Package> find_claimed(const Source& source, std::string_view origin, std::string_view h1,
                                      const Context& context) const;
  const remote::BundledPackage* choose(const ModuleNode& node, std::string_view h1) const;
  void extract(const std::vector<const remote::BundledPackage*>& packages, const Context& context);
  Result<std::filesystem::path> download(const remote::Blob& layer);
  Result<std::filesystem::path> extract_one(const remote::BundledPackage& package, const std::filesystem::path& zip,
                                            const std::filesystem::path& trees, const Context& context);
  void report(const Error& error, std::string_view subject, const Context& context);

  Options options_;
  const Store& store_;
  std::set<remote::BundledPackage> entries_;  // bundled_entry() of Options::modules
  bool is_opened_ = false;
  bool is_readable_ = false;    // it was opened without an error
  std::filesystem::path work_;  // empty: it could not be made
  // The last one may have packages that no closure lists. Pointers to packages stay valid.
  std::vector<remote::NamedClosure> closures_;
  std::map<const remote::BundledPackage*, Result<std::filesystem::path>> extracted_;
  bool is_extracted_ = false;  // what is needed
  std::set<const remote::BundledPackage*> reported_;
  std::mutex mutex_;                      // of stopped_by_
  std::optional<Error> stopped_by_ = {};  // why no further package is downloaded
  std::optional<Error> damage_ = {};
  std::optional<Error> failure_ = {};
};

}  // namespace modlock
