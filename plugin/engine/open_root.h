#pragma once

#include <memory>
#include <optional>

#include "plugin/bundle/bundle_reader.h"
#include "plugin/engine/root_request.h"
#include "plugin/engine/run.h"
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

  // Returns the network of this root's client. Created at the first call.
  const Network& network();
  SourceFetcher& fetcher();
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

  RootRequest root;
  LockDocument lock;
  Context context;

 private:
  OpenRoot(const Engine& engine, Run& run, RootRequest opened);

  const Engine& engine_;
  Run& run_;
  std::shared_ptr<const Network> network_;
  std::optional<SourceFetcher> fetcher_;
  std::unique_ptr<BundleReader> bundle_;
};

}  // namespace modlock
