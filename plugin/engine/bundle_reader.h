#pragma once

#include <atomic>
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
  // Returns the file of the layer of a package, with its digest checked. May be called from any thread. Errors: those
  // of the place; HASH_MISMATCH and SOURCE_INVALID, which name the digest.
  virtual Result<std::filesystem::path> find(const remote::BundledPackage& package,
                                             const std::filesystem::path& work) = 0;
};

// Adds how to use plain http to the error of a registry on this machine that does not use TLS.
Error with_plain_http_hint(Error error, const oci::Repository& repository);

// A directory or a tar archive. `context` outlives the place.
std::unique_ptr<BundlePlace> make_layout_place(std::filesystem::path path, const Context& context);
// The closure with this tag in a repository, which gets 10 s for the index, and then 30 s and one second for each MiB
// of the packages, at most 10 minutes: TIMEOUT. Errors: NOT_FOUND if the repository does not have it; those of
// oci::Registry. `context` limits the requests; the sources that it allows do not.
std::unique_ptr<BundlePlace> make_registry_place(std::unique_ptr<oci::Registry> registry, oci::Repository repository,
                                                 std::string tag, Context context);

// A directory or a tar archive that is read as a whole, with the files that were extracted for it.
class OpenBundle {
 public:
  // Errors: those of Layout::open() and Layout::closures(); IO_ERROR.
  static Result<std::unique_ptr<OpenBundle>> open(const std::filesystem::path& path, const Store& store,
                                                  const Context& context);
  ~OpenBundle();
  OpenBundle(const OpenBundle&) = delete;
  OpenBundle& operator=(const OpenBundle&) = delete;

  const remote::Layout& layout() const { return *layout_; }
  const std::vector<remote::NamedClosure>& closures() const { return closures_; }

 private:
  explicit OpenBundle(std::filesystem::path work) : work_(std::move(work)) {}

  const std::filesystem::path work_;
  std::optional<remote::Layout> layout_;
  std::vector<remote::NamedClosure> closures_;
};

// Extracts the zip of a package to `directory`, a new one, and restores its links. Errors: those of unpack_archive()
// and list_tree(); SOURCE_INVALID (the links do not match the package); HASH_MISMATCH (another h1).
Result<void> extract_package(const remote::BundledPackage& package, const std::filesystem::path& zip,
                             const std::filesystem::path& directory, const Context& context);

// A bundle that packages of one lock file are installed from. Nothing is read, and no request is sent, before the first
// package is needed. Packages are checked with the h1 of the lock, so the bundle need not be trusted. They are not
// added to the store, because a bundle proves nothing about a source. Use from one thread.
class BundleReader {
 public:
  enum class Role {
    named,  // by the command: damage is an error, after everything else was done
    store   // by the user's settings: damage is a warning
  };
  struct Options {
    std::unique_ptr<BundlePlace> place;
    std::string name;  // a path or "oci://HOST/REPOSITORY", for messages
    Role role = Role::named;
    ModuleLocks modules;  // entries whose packages are read together when the first package is needed
    // Whether the bundle could not be reached. Shared by all readers of a run, so that only one of them waits and
    // warns.
    std::atomic<bool>* is_down = nullptr;
  };
  BundleReader(Options options, const Store& store) : options_(std::move(options)), store_(store) {}
  ~BundleReader();
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;

  // Returns the package of a call with this content, extracted to a directory that exists as long as the reader;
  // nullopt: the bundle does not have it. A failure is a warning in the log, except for damage(), and nullopt. The
  // first call extracts all packages of Options::modules that the store lacks, in parallel.
  std::optional<LocalPackage> find(const ModuleNode& node, std::string_view h1, const Context& context);

  // Returns whether the bundle lists a package of a lock entry; nullopt: the bundle cannot be read, which is reported
  // as for find().
  std::optional<bool> lists(const ModuleLock& entry, const Context& context);

  const std::string& name() const { return options_.name; }
  // Returns the first damage of a named bundle: HASH_MISMATCH, SOURCE_INVALID, or another error of a package.
  const std::optional<Error>& damage() const { return damage_; }
  // Returns why the bundle could not be reached.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  Result<void> open();
  void open_once(const Context& context);
  std::vector<const remote::BundledPackage*> needed() const;
  void extract(const std::vector<const remote::BundledPackage*>& packages, const Context& context);
  Result<std::filesystem::path> extract_one(const remote::BundledPackage& package, const Context& context);
  void report(const Error& error, std::string_view subject, const Context& context);

  Options options_;
  const Store& store_;
  bool is_opened_ = false;
  std::filesystem::path work_;  // empty: it could not be made
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
