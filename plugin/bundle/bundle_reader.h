#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/remote/closure.h"
#include "backends/store/store.h"
#include "plugin/bundle/bundle.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_node.h"
#include "protocol/base/result.h"

namespace modlock {

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
    // Called once, when the first package is needed. Null: only, in offline mode, what others listed before.
    std::function<Result<std::unique_ptr<Bundle>>()> open = {};
    std::string name = {};  // a path or "oci://HOST/REPOSITORY", for messages
    std::string tag = {};   // of the closure of the lock file
    Role role = Role::named;
    ModuleLocks modules = {};  // entries whose packages are read together when the first package is needed
    // Whether the bundle could not be reached. Shared by all readers of a run, so that only one of them waits and
    // warns.
    std::atomic<bool>* is_down = nullptr;
  };
  BundleReader(Options options, const Store& store);
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;

  // Returns the package of a call with this content, extracted to a directory that exists as long as the reader;
  // nullopt: the bundle does not have it. A failure is a warning in the log, except for damage(), and nullopt. The
  // first call extracts all packages of Options::modules that the store lacks, in parallel.
  std::optional<LocalPackage> find(const ModuleNode& node, std::string_view h1, const Context& context);

  // Lets find() serve calls whose entries the lock file lost, if it has none for them. They are not read ahead.
  void add_entries(const ModuleLocks& modules) { options_.modules.insert(modules.begin(), modules.end()); }

  // Returns whether the bundle lists a package of a lock entry; nullopt: the bundle cannot be read, which is reported
  // as for find(). Needs a bundle.
  std::optional<bool> lists(const ModuleLock& entry, const Context& context);

  bool has_bundle() const { return options_.open != nullptr; }
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
  std::unique_ptr<Bundle> bundle_;                     // null: it cannot be read
  std::shared_ptr<const std::filesystem::path> work_;  // null: it could not be made
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
