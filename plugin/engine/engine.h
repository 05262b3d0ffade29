#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/oci/reference.h"
#include "backends/remote/registry_store.h"
#include "backends/store/store.h"
#include "plugin/bundle/bundle.h"
#include "plugin/engine/run.h"
#include "plugin/lock/lock_file.h"
#include "plugin/settings/settings.h"
#include "protocol/messages/cache.h"
#include "protocol/messages/config_inspect.h"
#include "protocol/messages/initialize.h"
#include "protocol/messages/lock_explain.h"
#include "protocol/messages/lock_find.h"
#include "protocol/messages/lock_plan.h"
#include "protocol/messages/lock_verify.h"
#include "protocol/messages/modules_install.h"
#include "protocol/messages/root_params.h"
#include "protocol/messages/update_diff.h"
#include "protocol/messages/update_lookup.h"
#include "protocol/messages/update_plan.h"
#include "protocol/messages/versions_list.h"

namespace modlock {

// The directories to search for `.tofu-modlock.hcl`: from the first directory up to the second. Both are absolute.
struct SettingsDirectories {
  std::filesystem::path from;
  std::filesystem::path up_to;
};

// The options that a host sets with `initialize`, and one-shot commands with flags and TOFU_MODLOCK_*.
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
  bool in_ci = false;  // CI is set in the environment: doubtful cases are not decided
  // The revision that a checked change is for, as a branch, tag or commit; empty: unknown. See read_base().
  std::string base = {};
  // The repository of module packages that is read before any source; empty: that of the user's settings.
  std::string remote = {};                     // "oci://HOST/REPOSITORY"
  bool plain_http = false;                     // to repositories of bundles on the loopback; an error for others
  std::vector<BackendSetting> externals = {};  // external backends that the host names
  Settings overrides = {};                     // win over the settings of every file
  std::string minimum_release_age = {};        // "3d"; replaces the ages of the settings
  bool edits_as_full_text = true;
  bool edits_as_ranges = true;
  BackendReplacement replacement = {};  // for tests: backends in memory
};

// Checks that the version of a client is valid: digits and dots, optionally a prerelease. INVALID_PARAMS names
// `given_as`, the place of the value. An unset version is valid.
Result<void> check_release(const std::optional<std::string>& release, std::string_view given_as);

// Opens the cache of a user. Errors: those of Store::open(); PATH_OUTSIDE_ROOT if git tracks something in it, because
// the author of a checkout would then write what proves its locks, or if an index around it cannot be read.
Result<Store> open_cache(const std::filesystem::path& directory);

// Returns the text after applying `document` of an edit to its base.
std::string text_after(std::string_view base, const messages::EditedDocument& document);

// Returns params that show a root module as it is after these edits.
messages::RootParams with_edits(messages::RootParams root, const messages::WorkspaceEdit& edits);

// What Engine::create_bundle() writes.
struct BundleOptions {
  std::vector<messages::RootParams> roots;
  std::filesystem::path output;  // absolute: LayoutWriter::finish()
  bool with_providers = false;
  std::vector<std::string> platforms = {};  // of providers; empty: this machine's
};

// What Engine::push_bundle() uploads.
struct PushOptions {
  BundleOptions created = {};         // what to upload; it has no output
  std::filesystem::path bundle = {};  // absolute: upload this instead
  std::string address;                // "oci://HOST/REPOSITORY"
  bool check = false;                 // remote::Presence::checked
};

// What Engine::pull_bundle() downloads.
struct PullOptions {
  std::vector<messages::RootParams> roots;
  std::string address;           // "oci://HOST/REPOSITORY"
  std::filesystem::path output;  // absolute: LayoutWriter::finish()
};

// Returns the note of an error that names its root module.
std::string root_note(const messages::RootParams& root);

struct DiagnoseOptions {
  messages::RootParams root;             // its settings and client are examined
  std::vector<std::string> hosts = {};   // in addition to those of the configuration
  bool online = false;                   // also send requests to the hosts
  std::string cache_origin = "default";  // the source of the cache directory setting, for the report
};

// The result of one check.
struct Finding {
  std::string check = {};  // "git", "cache", "host registry.example.com"
  enum class Verdict { fine, warning, error } verdict = Verdict::fine;
  std::string found = {};                 // never a credential or the user-info of a URL
  std::string hint = {};                  // what to do; empty if there is no problem
  std::vector<std::string> details = {};  // one line each
  int exit_code = 0;                      // of an error
  bool operator==(const Finding&) const = default;
};

constexpr std::array<std::string_view, 3> names_of(const Finding::Verdict*) {
  return {"ok", "warning", "error"};
}
template <typename Form>
void fields(Form& form, In<Form, Finding> finding) {
  form.member("check", finding.check);
  form.member("verdict", finding.verdict);
  form.member("found", finding.found);
  form.optional("hint", finding.hint);
  form.member("details", finding.details);
}

// The lock of a root as an SBOM lists it, and the text of its files by name.
struct LockedFiles {
  LockFile lock;
  std::map<std::string, std::string> texts = {};
};

// The operations of the program, for all interfaces. Each method reads a root module, and uses the network as the
// client of that root would. It prints nothing. Options and results are the messages of the protocol, without their
// JSON. A method leaves the diagnostics of its result in the run, and with FROZEN the required changes.
//
// Call configure() and open() first. After that the engine does not change, and its methods may be called from any
// thread, each with a run of its own.
class Engine {
 public:
  // Returns the defaults of this user: cache and settings below the XDG directories.
  static EngineOptions default_options();

  explicit Engine(EngineOptions options) : options_(std::move(options)), user_settings_(options_.overrides) {}

  // Errors: INVALID_PARAMS (a relative workspace root, an invalid client version). Requests check roots.
  Result<void> configure(const messages::InitializeParams& params);
  // Opens the store and reads the user's settings. Errors: those of open_cache() and of load_user_settings(); for an
  // external backend that cannot be used, CONFIG_PARSE at its setting, or INVALID_PARAMS if the host named it; those of
  // bundle_repository() for the remote store.
  // Logs a warning for each setting that has no effect any more.
  Result<void> open(Log& log = null_log());

  // Runs `lock`, `upgrade` and `lock/plan`: plans the module blocks and provider blocks of the lock file, and returns
  // the edits. Errors: FROZEN if something would change under frozen; those of reading the configuration (CONFIG_PARSE
  // …) and the lock (LOCK_PARSE, HASH_MISMATCH), of choosing versions (CONSTRAINT_CONFLICT, NO_MATCHING_VERSION …), and
  // of sources (UNREACHABLE, AUTH_REQUIRED …).
  Result<messages::LockPlanResult> plan(const messages::LockPlanParams& params, Run& run) const;
  // Edits the configuration for new versions or constraints, and plans the lock file for it. Errors: those of plan();
  // INVALID_PARAMS if an update cannot be made.
  Result<messages::LockPlanResult> update(const messages::UpdatePlanParams& params, Run& run) const;
  // Writes the edits of a plan below its root, which is locked for other runs, and saves the backup of the module
  // blocks in its data directory. A backup that cannot be saved is a warning. Follows a symbolic link in place of a
  // configuration file. Writes nothing if any base has changed. Errors: INVALID_PARAMS (the root is Terragrunt's copy
  // of a unit, and no hook calls); CONTENT_MODIFIED; PATH_OUTSIDE_ROOT; IO_ERROR; those of check_no_link(),
  // find_data_directory() and lock_root().
  Result<void> apply(const messages::RootParams& root, const messages::LockPlanResult& plan,
                     const messages::Include& include, Run& run) const;
  // Installs the locked packages where the client finds them. Errors: FROZEN if a call has no lock entry;
  // HASH_MISMATCH; those of sources.
  Result<messages::ModulesInstallResult> install(const messages::ModulesInstallParams& params, Run& run) const;
  // Compares what is installed with the lock file, and with `online` the lock file with its sources. A problem is a
  // verdict, not an error. Errors: INVALID_PARAMS (online although offline is on); those of reading.
  Result<messages::LockVerifyResult> verify(const messages::LockVerifyParams& params, Run& run) const;
  // Finds newer versions of the modules and providers of a root. Errors: those of reading; a source that fails is a
  // diagnostic.
  Result<messages::UpdateLookupResult> lookup(const messages::UpdateLookupParams& params, Run& run) const;
  // Compares the packages of a root before and after updates of module calls, or those of its lock file with those of
  // an earlier state. Writes nothing. Errors: those of lookup(), of update() and of reading; INVALID_PARAMS for a
  // subject that is no module call. A package that cannot be compared is a diagnostic.
  Result<messages::UpdateDiffResult> diff(const messages::UpdateDiffParams& params, Run& run) const;
  // Explains why a call or a provider has its version. Errors: INVALID_PARAMS (no such subject); those of plan().
  Result<messages::LockExplainResult> explain(const messages::LockExplainParams& params, Run& run) const;
  // Returns the lock entries of a release, without network access. Reads no configuration. Errors: INVALID_PARAMS (the
  // text does not name a release); those of OpenRoot::open(); SOURCE_INVALID (the source of an entry).
  Result<messages::LockFindResult> find(const messages::LockFindParams& params, Run& run) const;
  // Returns the content of the configuration of a root, without network access.
  Result<messages::ConfigInspectResult> inspect(const messages::RootParams& params, Run& run) const;
  // Returns the versions of a source, and the selected one. For a call this is what an upgrade would select; if it
  // would fail, a warning has the reason. Errors: SOURCE_UNSUPPORTED, SOURCE_DENIED; INVALID_PARAMS (no such call);
  // those of sources.
  Result<messages::VersionsListResult> versions(const messages::VersionsListParams& params, Run& run) const;
  // Returns location and size of the cache; removes unused packages. Errors: IO_ERROR; INVALID_PARAMS (maxAge).
  Result<messages::CacheInfoResult> cache_info() const;
  Result<messages::CachePruneResult> prune_cache(const messages::CachePruneParams& params, Run& run) const;

  // Returns the data directory of a root directory. Errors: those of find_data_directory().
  Result<std::filesystem::path> data_directory(const messages::RootParams& root) const;
  // Reads the lock files of a root directory for an SBOM (plugin/report). Reads no configuration. Errors: MISSING if
  // there is no lock file; those of OpenRoot::open().
  Result<LockedFiles> sbom(const messages::RootParams& root, Run& run) const;
  // Writes the locked module packages of root modules as one bundle: an OCI image layout with a closure for each lock
  // file. Packages come from the cache; those that it lacks are fetched, and so are providers. The same locks have the
  // same bytes. Errors: those of install(), ProviderSource::download(), hash_provider_archive() and
  // LayoutWriter; HASH_MISMATCH (the lock file has no hash of the archive of a provider). `sink` receives what was
  // written, after it was.
  Result<void> create_bundle(const BundleOptions& options, const remote::ClosureSink& sink, Run& run) const;
  // Uploads a bundle to a repository of an OCI registry. Errors: those of create_bundle(), bundle_repository(),
  // Layout::open() and remote::push().
  Result<remote::PushReport> push_bundle(const PushOptions& options, Run& run) const;
  // Downloads the closures of root modules from a repository of an OCI registry, and writes them like create_bundle().
  // Errors: those of OpenRoot::open(), bundle_repository(), remote::find_closure(), remote::pull() and
  // LayoutWriter; NOT_FOUND (the repository does not have a closure).
  Result<void> pull_bundle(const PullOptions& options, const remote::ClosureSink& sink, Run& run) const;
  // Writes the providers of a bundle as a filesystem mirror, and a CLI configuration that names it. Nothing outside of
  // these two paths is written. Errors: those of read_bundle() and remote::providers_of(); INVALID_PARAMS (a file has
  // other content, a directory of the mirror is a link, or the bundle has no providers).
  Result<void> unpack_bundle(const UnpackOptions& options, const remote::ClosureSink& sink, Run& run) const;
  // Reads a bundle: the absolute path of a directory or a tar archive, or "oci://HOST/REPOSITORY" with all closures of
  // a repository. With `verify` it checks every digest and every h1. `sink` receives closures also before an error.
  // Errors: those of Layout::open() and Layout::closures(), or bundle_repository() and oci::Registry; NOT_FOUND (the
  // repository has no closure); with `verify` HASH_MISMATCH and SOURCE_INVALID.
  Result<void> read_bundle(const std::string& name, bool verify, const remote::ClosureSink& sink, Run& run) const;
  // Checks the environment: the machine, and the hosts that the configuration names. Creates and removes a file in the
  // cache. A problem is a finding, not an error.
  std::vector<Finding> diagnose(const DiagnoseOptions& options, Run& run) const;

  const EngineOptions& options() const { return options_; }
  const Store& store() const { return *store_; }
  // Returns the settings that apply if no root is given.
  const Settings& user_settings() const { return user_settings_; }
  // Returns the external backends of the host and of the user's settings.
  const std::vector<BackendSetting>& externals() const { return externals_; }
  // Returns the repository that locked packages are read from before their sources; nullopt: none.
  const std::optional<oci::Repository>& remote() const { return remote_; }
  // Returns the network of this client. Thread-safe.
  std::shared_ptr<const Network> network(ClientKind tool, const std::string& version, const Run& run) const;
  // Returns the network of the client that is used if no root is given.
  std::shared_ptr<const Network> network(const Run& run) const;
  // Returns the context of a run for the layers below the engine, with the limits of child processes that the settings
  // of a root allow; without a root those of the user.
  Context context_for(const Run& run, const Settings& settings) const;
  Context context_for(const Run& run) const { return context_for(run, user_settings_); }
  bool is_open() const { return store_.has_value(); }

 private:
  EngineOptions options_;
  std::optional<Store> store_;
  Settings user_settings_;
  std::optional<oci::Repository> remote_;
  std::vector<BackendSetting> externals_;  // those of the host take precedence over those of the user's settings
  mutable NetworkPool networks_;
};

}  // namespace modlock
