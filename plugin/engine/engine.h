#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/store/store.h"
#include "plugin/engine/diagnosis.h"
#include "plugin/engine/run.h"
#include "plugin/lock/lock_file.h"
#include "plugin/settings/settings.h"
#include "protocol/messages/cache.h"
#include "protocol/messages/config_inspect.h"
#include "protocol/messages/initialize.h"
#include "protocol/messages/lock_explain.h"
#include "protocol/messages/lock_plan.h"
#include "protocol/messages/lock_verify.h"
#include "protocol/messages/modules_install.h"
#include "protocol/messages/root_params.h"
#include "protocol/messages/update_lookup.h"
#include "protocol/messages/update_plan.h"
#include "protocol/messages/versions_list.h"

namespace modlock {

// Where `.tofu-modlock.hcl` is searched: from the first directory up to the second. Both absolute.
struct SettingsDirectories {
  std::filesystem::path from;
  std::filesystem::path up_to;
};

// What a host settled with `initialize`; one-shot commands settle it from flags and TOFU_MODLOCK_*.
struct EngineOptions {
  std::filesystem::path cache_directory;
  std::optional<std::filesystem::path> user_settings;
  std::vector<std::filesystem::path> workspace_roots = {};  // absolute
  // Read in addition to `workspace_roots`, or to the repository. Absolute.
  std::vector<std::filesystem::path> extra_workspace_roots = {};
  std::optional<SettingsDirectories> settings_place = {};  // unset: from each root up to its repository
  std::optional<std::string> implementation = {};
  std::optional<std::string> implementation_version = {};
  bool offline = false;
  bool in_ci = false;      // CI is set in the environment: what is in doubt is not decided
  bool asks_once = false;  // send each query once for the lifetime of the engine: a command over several roots
  // When a command over several roots began: what was fetched since then is fresh. Unset: since each request.
  std::optional<std::filesystem::file_time_type> began = {};
  std::vector<BackendSetting> externals = {};   // external backends that the host names
  std::optional<std::string> git_engine = {};   // "auto", "libgit2" or "git"
  std::optional<std::size_t> connections = {};  // to one host at the same time
  bool edits_as_full_text = true;
  bool edits_as_ranges = true;
};

// Whether the release of a client is one: digits and dots, perhaps a prerelease. INVALID_PARAMS names `given_as`, where
// it was given. Nothing given is fine.
Result<void> check_release(const std::optional<std::string>& release, std::string_view given_as);

// What the program can do, for every entrance: each method reads a root module, and asks the network as the client of
// that root would. It prints nothing. Options and results are the messages of the protocol, without their JSON. A
// method leaves the diagnostics of its result in the run, and with FROZEN what would change.
//
// configure() and open() come before everything else; after that the engine does not change, and its methods may be
// called from any thread, each with a run of its own.
class Engine {
 public:
  // The defaults of this user: cache and settings below the XDG directories.
  static EngineOptions default_options();

  explicit Engine(EngineOptions options) : options_(std::move(options)) {}

  // Errors: INVALID_PARAMS (a relative workspace root, a client version that is none). Roots are judged by request.
  Result<void> configure(const messages::InitializeParams& params);
  // Opens the store and reads the user's settings. Errors: those of Store::open() and of load_user_settings(); for an
  // external backend that cannot be used, CONFIG_PARSE at its setting, or INVALID_PARAMS if the host named it.
  Result<void> open();

  // What `lock`, `upgrade` and `lock/plan` do: plans the module blocks and provider blocks of the lock file, and
  // returns the edits. Errors: FROZEN if something would change under frozen; those of reading the configuration
  // (CONFIG_PARSE …) and the lock (LOCK_PARSE, HASH_MISMATCH), of choosing versions (CONSTRAINT_CONFLICT,
  // NO_MATCHING_VERSION …), and of sources (UNREACHABLE, AUTH_REQUIRED …).
  Result<messages::LockPlanResult> plan(const messages::LockPlanParams& params, Run& run) const;
  // Edits the configuration for new versions or constraints, and plans the lock file for it. Errors: those of plan();
  // INVALID_PARAMS if an update cannot be made.
  Result<messages::LockPlanResult> update(const messages::UpdatePlanParams& params, Run& run) const;
  // Writes the edits of a plan below its root, which is locked for other runs, and saves the backup of the module
  // blocks in its data directory. A backup that cannot be saved is a warning. Replaces a symbolic link that stands for
  // a lock file; follows one that stands for a configuration file. Writes nothing if any base has changed. Errors:
  // CONTENT_MODIFIED; PATH_OUTSIDE_ROOT; IO_ERROR; those of find_data_directory() and hold_root().
  Result<void> apply(const messages::RootParams& root, const messages::LockPlanResult& plan,
                     const messages::Include& include, Run& run) const;
  // Puts the locked packages where the client finds them. Errors: FROZEN if a call has no lock entry; HASH_MISMATCH;
  // those of sources.
  Result<messages::ModulesInstallResult> install(const messages::ModulesInstallParams& params, Run& run) const;
  // Compares what is installed with the lock file, and with `online` the lock file with its sources. What is wrong is a
  // verdict and no error. Errors: INVALID_PARAMS (online although offline is on); those of reading.
  Result<messages::LockVerifyResult> verify(const messages::LockVerifyParams& params, Run& run) const;
  // Finds newer versions of what a root calls. Errors: those of reading; a source that fails is a diagnostic.
  Result<messages::UpdateLookupResult> lookup(const messages::UpdateLookupParams& params, Run& run) const;
  // Why a call or a provider has the version that it has. Errors: NOT_FOUND (no such subject); those of plan().
  Result<messages::LockExplainResult> explain(const messages::LockExplainParams& params, Run& run) const;
  // What the configuration of a root contains, without network access.
  Result<messages::ConfigInspectResult> inspect(const messages::RootParams& params, Run& run) const;
  // The versions of a source. Errors: SOURCE_UNSUPPORTED, SOURCE_DENIED; those of sources.
  Result<messages::VersionsListResult> versions(const messages::VersionsListParams& params, Run& run) const;
  // Location and size of the cache, and what prune removes from it. Errors: IO_ERROR; INVALID_PARAMS (maxAge).
  Result<messages::CacheInfoResult> cache_info() const;
  Result<messages::CachePruneResult> prune_cache(const messages::CachePruneParams& params, Run& run) const;

  // What the lock files of a root directory contain, for a bill of materials (plugin/report). Reads no configuration.
  // Errors: MISSING if there is no lock file; those of parse_lock(); PATH_OUTSIDE_ROOT; IO_ERROR.
  Result<LockFile> sbom(const std::filesystem::path& root) const;
  // Checks what everything else needs: the machine, and the hosts that the configuration names. Creates and removes a
  // file in the cache. What is wrong is a finding and no error.
  std::vector<Finding> diagnose(const DiagnoseOptions& options, Run& run) const;

  const EngineOptions& options() const { return options_; }
  const Store& store() const { return *store_; }
  // The settings that apply where no root is named.
  const Settings& user_settings() const { return user_settings_; }
  // The network as this client reaches it. Thread-safe.
  std::shared_ptr<const Network> network(ClientKind tool, const std::string& version, const Run& run) const;
  // As the client reaches it that is used where no root is named.
  std::shared_ptr<const Network> network(const Run& run) const;
  // For the fetcher of a call that begins now: what was fetched since then is fresh.
  std::filesystem::file_time_type fresh_since(const Run& run) const;
  bool is_open() const { return store_.has_value(); }

 private:
  EngineOptions options_;
  std::optional<Store> store_;
  Settings user_settings_;
  std::vector<BackendSetting> externals_;  // what the host names goes before what the user's settings name
  mutable NetworkPool networks_;
};

}  // namespace modlock
