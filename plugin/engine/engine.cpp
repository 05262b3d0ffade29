#include "plugin/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/source_text.h"
#include "backends/address/version.h"
#include "backends/base/environment.h"
#include "backends/store/prune.h"
#include "plugin/engine/client_program.h"
#include "plugin/engine/open_root.h"
#include "plugin/hcl/characters.h"
#include "plugin/install/data_directory.h"
#include "plugin/lock/local_git.h"
#include "plugin/settings/settings.h"
#include "protocol/base/result.h"
#include "protocol/messages/cache.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

bool wants(const std::vector<std::string>& forms, std::string_view form) {
  return forms.empty() || std::ranges::find(forms, form) != forms.end();
}

Result<PruneLimits> limits_of(const messages::CachePruneParams& params) {
  PruneLimits limits{.max_bytes = params.max_bytes};
  if (params.max_age) {
    limits.max_age = parse_duration(*params.max_age);
    if (!limits.max_age) {
      return fail(Code::invalid_params,
                  fmt::format("the maximum age must be a duration, found \"{}\"", *params.max_age),
                  "write it in days, hours, minutes and seconds: \"30d\" or \"12h\"");
    }
  }
  return limits;
}

// "libgit2" is the former name of "in-process".
GitEngine git_engine_of(const std::optional<std::string>& name) {
  return !name || name == "auto" ? GitEngine::automatic : name == "git" ? GitEngine::git : GitEngine::libgit2;
}

}  // namespace

EngineOptions Engine::default_options() {
  EngineOptions options{.cache_directory = default_store_root(), .user_settings = {}};
  options.in_ci = !environment_variable("CI").empty();
  const fs::path config = xdg_directory("XDG_CONFIG_HOME", ".config") / "tofu-modlock" / "config.hcl";
  std::error_code ignored;
  // A directory that cannot be searched, as the home directory of another user, has no settings of this one.
  if (config.is_absolute() && fs::status(config, ignored).type() != fs::file_type::none) {
    options.user_settings = config;
  }
  return options;
}

Result<void> check_release(const std::optional<std::string>& release, std::string_view given_as) {
  if (!release || release->empty() || (release->front() != 'v' && Version::parse(*release))) {
    return {};
  }
  return fail(Code::invalid_params,
              fmt::format("expected a version at {}, found {}", given_as, hcl::quoted_for_message(*release)),
              "write it as 1.12.6");
}

Result<void> Engine::configure(const messages::InitializeParams& params) {
  MODLOCK_TRY(check_release(params.implementation_version, "params.options.implementationVersion"));
  options_.implementation = params.implementation ? params.implementation : options_.implementation;
  options_.implementation_version =
      params.implementation_version ? params.implementation_version : options_.implementation_version;
  options_.offline = params.offline.value_or(options_.offline);
  if (params.cache_dir) {
    options_.cache_directory = fs::absolute(*params.cache_dir);
  }
  if (params.config_file) {
    options_.user_settings = fs::absolute(*params.config_file);
  }
  for (const std::string& root : params.workspace_roots) {
    MODLOCK_TRY(const auto path, decode_path("a workspace root", root));
    if (!path.is_absolute()) {
      return fail(Code::invalid_params,
                  "decode: expected an absolute path in params.workspaceRoots, found \"" + root + "\"",
                  "name workspace roots from the file system's root");
    }
    options_.workspace_roots.push_back(path.lexically_normal());
  }
  for (const messages::ExternalBackend& backend : params.backends) {
    options_.externals.push_back(
        {backend.scheme, backend.command, backend.hosts, Location{"params.options.backends", std::nullopt}});
  }
  options_.edits_as_full_text = wants(params.edit_forms, "fullText");
  options_.edits_as_ranges = wants(params.edit_forms, "ranges");
  return {};
}

Result<Store> open_cache(const fs::path& directory) {
  std::error_code ignored;
  const fs::path named = fs::absolute(directory, ignored).lexically_normal();
  for (const fs::path& path : {named, fs::weakly_canonical(named, ignored)}) {
    auto entry = directory.empty() ? "" : find_tracked_entry(path, {});
    if (!entry) {
      return fail(with_note(std::move(entry.error()), fmt::format("the cache {} is below it", named.string())));
    }
    if (!entry->empty()) {
      return fail(Code::path_outside_root,
                  fmt::format("cannot use the cache \"{}\": git tracks \"{}\", so its content may be that of a commit",
                              named.string(), escape_controls(*entry)),
                  "name a directory without tracked files with --cache-dir or TOFU_MODLOCK_CACHE_DIR");
    }
  }
  return Store::open(directory);
}

Result<void> Engine::open(Log& log) {
  auto store = open_cache(options_.cache_directory);
  store_.emplace(store ? *store : Store::open({}).value());
  MODLOCK_TRY(std::move(store));
  if (options_.user_settings) {
    MODLOCK_TRY(user_settings_, load_user_settings(*options_.user_settings, options_.overrides));
  }
  for (const std::string& warning : user_settings_.ignored) {
    log.write(LogLevel::warning, warning);
  }
  const auto& setting = user_settings_.remote_store;
  if (const std::string address = options_.remote.empty() && setting ? setting->text : options_.remote;
      !address.empty()) {
    auto repository = bundle_repository(address, options_.plain_http);
    if (!repository) {
      Error error = std::move(repository.error());
      error.notes.push_back(options_.remote.empty() ? "remote_store names it" : "TOFU_MODLOCK_REMOTE names it");
      error.location = options_.remote.empty() ? std::optional(setting->location) : std::nullopt;
      return fail(std::move(error));
    }
    remote_ = std::move(*repository);
  }
  externals_ = options_.externals;
  externals_.insert(externals_.end(), user_settings_.backends.begin(), user_settings_.backends.end());
  MODLOCK_TRY(check_externals(externals_));
  store_->set_claims(claims_of(externals_));
  return {};
}

Result<fs::path> Engine::data_directory(const messages::RootParams& root) const {
  MODLOCK_TRY(auto data, find_data_directory(root.root, root.data_dir));
  return std::move(data.path);
}

std::shared_ptr<const Network> Engine::network(ClientKind tool, const std::string& version, const Run& run) const {
  const std::string_view newest = tool == ClientKind::terraform ? kNewestTerraform : kNewestOpenTofu;
  NetworkPool& pool = run.networks() != nullptr ? *run.networks() : networks_;
  return pool.get({.tool = tool,
                   .git_engine = git_engine_of(user_settings_.git_engine),
                   .connections = user_settings_.connections.value_or(kConnectionsPerHost),
                   .client_version = version.empty() ? std::string(newest) : version,
                   .externals = externals_,
                   .token_realms = user_settings_.oci_token_realms,
                   .credential_programs = user_settings_.credential_programs,
                   .trusted_dates = user_settings_.trust_publication_dates.value_or(
                       std::vector<std::string>{std::string(kOpenTofuRegistry)}),
                   .memoizes = run.networks() != nullptr,
                   .replacement = options_.replacement},
                  *store_);
}

std::shared_ptr<const Network> Engine::network(const Run& run) const {
  const ClientProgram client = find_client(options_);
  return network(client.tool, client.version, run);
}

Context Engine::context_for(const Run& run, const Settings& settings) const {
  Context context = run.context(options_.offline);
  if (settings.fetch_timeout) {
    context.children.idle = *settings.fetch_timeout;
  }
  context.children.memory = settings.child_memory.value_or(context.children.memory);
  context.check_source = source_judge(settings);
  return context;
}

Result<messages::CacheInfoResult> Engine::cache_info() const {
  MODLOCK_TRY(const auto sizes, measure(store()));
  return messages::CacheInfoResult{.directory = store().root().string(), .sizes = sizes};
}

Result<messages::CachePruneResult> Engine::prune_cache(const messages::CachePruneParams& params, Run& run) const {
  MODLOCK_TRY(const auto limits, limits_of(params));
  MODLOCK_TRY(const auto report, prune(store(), limits, context_for(run)));
  MODLOCK_TRY(const auto left, measure(store()));
  return messages::CachePruneResult{
      .directory = store().root().string(), .sizes = left, .removed = report.removed, .leftovers = report.leftovers};
}

}  // namespace modlock
