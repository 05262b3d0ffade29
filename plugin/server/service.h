#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/store/store.h"
#include "plugin/server/network.h"
#include "protocol/messages/initialize.h"

namespace modlock {

// Where `.tofu-modlock.hcl` is searched: from the first directory up to the second. Both absolute.
struct SettingsDirectories {
  std::filesystem::path from;
  std::filesystem::path up_to;
};

// What a host settled with `initialize`; one-shot commands settle it from flags and TOFU_MODLOCK_*.
struct ServiceOptions {
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
  bool asks_once = false;  // each source, for as long as the service lives: a command over several roots
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

// What handlers share: the options, the store and the backends. Configured by `initialize` before any worker uses it,
// not changed afterwards.
class Service {
 public:
  // The defaults of this user: cache and settings below the XDG directories.
  static ServiceOptions default_options();

  explicit Service(ServiceOptions options) : options_(std::move(options)) {}

  // Errors: INVALID_PARAMS (a relative workspace root, a release that is none). Roots are judged by request.
  Result<void> configure(const messages::InitializeParams& params);
  // Opens the store and reads the user's settings. Errors: those of Store::open() and of load_user_settings(); for an
  // external backend that cannot be, CONFIG_PARSE at its setting, or INVALID_PARAMS where the host named it.
  Result<void> open();

  const ServiceOptions& options() const { return options_; }
  const Store& store() const { return *store_; }
  // What reaches the outside as this client would: made when it is first asked for, and anew where its CLI
  // configuration is no longer what was read. Who has the older one goes on with it: ask once per request. Thread-safe.
  std::shared_ptr<const Network> network(Tool tool, const std::string& version) const;
  // For where no root is asked about.
  std::shared_ptr<const Network> network() const;
  // Those that hold where no root is asked about.
  const Settings& user_settings() const { return user_settings_; }
  // The same for one request over many roots, opened: it asks each source once, and its requests count in `stats`,
  // which outlives it.
  std::unique_ptr<Service> for_one_run(Stats& stats) const;
  // Where all requests of such a run count; null: each counts for itself.
  Stats* shared_stats() const { return shared_stats_; }
  // For the Origin of a request that begins now.
  std::filesystem::file_time_type fresh_since() const {
    return options_.began.value_or(std::filesystem::file_time_type::clock::now());
  }
  bool is_open() const { return store_.has_value(); }

 private:
  ServiceOptions options_;
  std::optional<Store> store_;
  Settings user_settings_;
  Stats* shared_stats_ = nullptr;
  std::vector<BackendSetting> externals_;  // what the host names goes before what the user's settings name
  mutable std::mutex networks_mutex_;
  struct KnownNetwork {
    std::string state;  // of the CLI configuration
    std::shared_ptr<const Network> network;
  };
  mutable std::map<std::pair<Tool, std::string>, KnownNetwork> networks_;  // by client
};

}  // namespace modlock
