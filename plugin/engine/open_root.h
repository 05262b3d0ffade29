#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/files.h"
#include "plugin/bundle/bundle_reader.h"
#include "plugin/engine/client_program.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/run.h"
#include "plugin/install/data_directory.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/merged_lock.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/source_fetcher.h"
#include "protocol/messages/lock_plan.h"

namespace modlock {

// A root directory as named in a request, and its context.
struct RootRequest {
  WalkRequest walk;
  DataDirectory data;
  ClientProgram implementation;
  std::filesystem::path repository;  // find_repository_root()
  // Whether git may track the files of the root. It does not if the settings are in another directory: the root is then
  // Terragrunt's copy of a unit, with the lock file of the unit.
  bool is_versioned = true;

  bool has_history() const { return is_versioned && path_exists(repository / ".git"); }
};

// Returns the path that a host sent for `name`, as a path or a file:// URI. Errors: INVALID_PARAMS (a URI of another
// machine, or not only of a path; control characters).
Result<std::filesystem::path> decode_path(std::string_view name, const std::string& sent);

// A directory that a host names for a search, and the directories that reads stay in; none without workspaceRoots. All
// are absolute, without links.
struct SearchedDirectory {
  std::filesystem::path path;
  std::vector<std::filesystem::path> bounds = {};
};
// Errors: those of decode_path(); INVALID_PARAMS (a relative directory without workspaceRoots, no such directory);
// PATH_OUTSIDE_ROOT (outside workspaceRoots).
Result<SearchedDirectory> open_directory(const std::string& sent, const Engine& engine);

// Errors: those of decode_path(); INVALID_PARAMS (a relative root without workspaceRoots, no such directory),
// PATH_OUTSIDE_ROOT (outside workspaceRoots), those of load_settings() and find_data_directory().
Result<RootRequest> open_root(const messages::RootParams& params, const Engine& engine, const Run& run);

// Returns the client of a root; if the root cannot be opened, without its settings.
ClientProgram client_of(const messages::RootParams& params, const Engine& engine);

struct LockDocument {
  LockFile file;
  std::string path;                       // relative to the root
  std::optional<bool> uses_sidecar = {};  // Settings::uses_sidecar
  // If the path is that of the sidecar: `.terraform.lock.hcl`, which contains the providers. With the setting, its
  // module blocks apply until there is a sidecar, and move there with the next change.
  std::optional<LockFile> beside = {};
  std::optional<OpenMerge> merge = {};  // the files were merged
  // With the inline setting: the `.terraform.modules.lock.hcl` of an earlier setting. Its module blocks apply until the
  // lock file has some; the next change moves them there and deletes it.
  std::optional<LockFile> left_sidecar = {};

  bool counts_inline() const { return beside && !uses_sidecar_blocks(*beside, file, uses_sidecar); }
  bool counts_sidecar() const { return left_sidecar && uses_sidecar_blocks(file, *left_sidecar, uses_sidecar); }
  // Returns the module blocks that apply, and their file.
  std::string modules_path() const {
    return std::string(counts_inline() ? kLockFileName : counts_sidecar() ? kSidecarFileName : std::string_view(path));
  }
  std::string providers_path() const { return beside ? std::string(kLockFileName) : path; }
  const ModuleLocks& modules() const {
    return counts_inline() ? beside->modules : counts_sidecar() ? left_sidecar->modules : file.modules;
  }
  const LockFile& provider_file() const { return beside ? *beside : file; }
  // Returns the path for messages about modules, or only about providers.
  std::string shown_path(bool is_of_providers = false) const {
    const LockFile& shown = is_of_providers ? provider_file() : file;
    return std::string(!shown.exists        ? "the missing "
                       : shown.text.empty() ? "the empty "
                                            : "") +
           (is_of_providers ? providers_path() : path);
  }
};

// The checkout of a root at EngineOptions::base, without files of the user.
struct BaseState {
  Settings settings;                     // nothing is set if they are not valid there
  std::optional<std::string> lock_text;  // of `.terraform.lock.hcl`; nullopt: there is none
};
// Reads it, and nothing but the local repository; nullopt: no revision is given. Errors: those of
// RevisionReader::texts_at().
Result<std::optional<BaseState>> read_base(const RootRequest& root, const EngineOptions& options,
                                           const Context& context);

// Returns Context::check_source for these settings, which outlive it; empty if they allow every source.
std::function<Result<void>(const Source&, const ServerHop&)> source_judge(const Settings& settings);

// A root module and its lock file, read for one call of the engine, and its network.
class OpenRoot {
 public:
  enum class Merging { no, yes };

  // Reads settings and lock file. The lock file is the text of the request, or else of an overlaying document, or else
  // the file on disk; an empty one if none exists. `merging` yes: if a merge is in progress, or the file has conflict
  // markers, the sides are merged (merge_lock()); a text of the request is merged only by its markers. `engine` and
  // `run` outlive the root. Errors: those of open_root(), parse_lock(), merge_lock() and read_base();
  // PATH_OUTSIDE_ROOT; IO_ERROR.
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

  // Reads the lock file again, after it was written. Errors: those of open() for the lock file.
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

// The same, but fetches locked packages that are not on this machine. `continues_past_errors`: of PlanRequest. Errors:
// also those of make_plan().
Result<ModuleTree> walk_locked_modules(OpenRoot& open, bool continues_past_errors = false);

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
