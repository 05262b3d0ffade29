#pragma once

#include <memory>
#include <optional>

#include "plugin/bundle/bundle_reader.h"
#include "plugin/engine/root_request.h"
#include "plugin/engine/run.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/source_fetcher.h"

namespace modlock {

class Engine;

// A root module and its lock file, read for one call of the engine, and its network.
class OpenRoot {
 public:
  enum class Merging { no, yes };

  // Reads settings and lock file. `merging` yes: a lock file in conflict is merged (open_lock()). `engine` and `run`
  // outlive the root. Errors: those of open_root() and open_lock().
  static Result<std::unique_ptr<OpenRoot>> open(const Engine& engine, Run& run, const messages::RootParams& root,
                                                const messages::LockParams& lock, Merging merging = Merging::no);
  OpenRoot(const OpenRoot&) = delete;
  OpenRoot& operator=(const OpenRoot&) = delete;

  const Engine& engine() const { return engine_; }
  Run& run() const { return run_; }
  // Returns the network of this root's client. Created at the first call.
  const Network& network();
  SourceFetcher& fetcher();
  // Lets the fetcher ask again, after a package of the store turned out to be damaged.
  void forget_fetched() { fetcher_.reset(); }
  // Returns the bundle that locked packages come from before their sources: the one that is set, else the packages of
  // this lock file in the remote store of the user, else only in the cache. Never null.
  BundleReader* bundle();
  void set_bundle(std::unique_ptr<BundleReader> bundle) { bundle_ = std::move(bundle); }
  // Returns the lock entries whose source the settings allow, without those of hosts.
  ModuleLocks allowed_entries() const;
  // Creates a reader of the packages of this lock file in a repository.
  std::unique_ptr<BundleReader> read_repository(const oci::Repository& repository, BundleReader::Role role);
  // Checks sources against the current settings from now on.
  void check_sources();

  // Reads the lock file again, after it was written. Errors: those of open_lock().
  Result<void> read_lock_again();

  RootRequest root;
  LockDocument lock;
  Context context;
  bool refuses_unlocked = false;  // PlanRequest::refuses_unlocked of an installation

 private:
  OpenRoot(const Engine& engine, Run& run, RootRequest opened);

  const Engine& engine_;
  Run& run_;
  std::shared_ptr<const Network> network_;
  std::optional<SourceFetcher> fetcher_;
  std::unique_ptr<BundleReader> bundle_;
};

// Engine::plan(), install() and verify() for a root that is open; `root` and `lock` of the parameters are ignored.
Result<messages::LockPlanResult> plan_root(OpenRoot& open, messages::LockPlanParams params);
Result<messages::ModulesInstallResult> install_root(OpenRoot& open, const messages::ModulesInstallParams& params);
Result<messages::LockVerifyResult> verify_root(OpenRoot& open, const messages::LockVerifyParams& params);

// Returns the module tree of a root, that of `open` or one like it, as far as it can be read without network access:
// remote modules as locked_package() finds them. A module that is not available has a node without directory. Errors:
// those of walk_modules() and read_manifest().
Result<ModuleTree> walk_offline_modules(RootRequest& root, const OpenRoot& open);

// The same, but fetches locked packages that are not on this machine. `skipped`: of PlanRequest. Errors: also those of
// make_plan().
Result<ModuleTree> walk_locked_modules(OpenRoot& open, Diagnostics* skipped = nullptr);

// Returns the keys of remote calls of a tree that were not read.
std::vector<std::string> unread_modules(const ModuleTree& tree);

// Checks that a lock file is valid for the client that will run, if the user did not decide which one that is
// (ClientProgram::decider). `tree` is the reading of the client that is assumed. Returns this client if the checkout
// declares it, module addresses without a host depend on it, and PATH has both clients or none.
// Errors: FROZEN. The other client reads files in which it calls a module that the lock file does not have. Or module
// addresses without a host depend on the client, and only the other one is on PATH, or the checkout declared the other
// one at EngineOptions::base. Also those of read_base(). If `is_check` is false, only a client that is missing on PATH
// is reported, as a warning.
Result<std::optional<messages::CheckedFor>> check_client_choice(OpenRoot& open, const ModuleTree& tree, bool is_check,
                                                                Diagnostics& diagnostics);

}  // namespace modlock
