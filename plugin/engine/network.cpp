#include "plugin/engine/network.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "backends/address/version.h"
#include "backends/archive/archive_backend.h"
#include "backends/base/build_info.h"
#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "backends/credentials/registry_credential_finder.h"
#include "backends/external/external_backend.h"
#include "backends/http/wrapping_clients.h"
#include "backends/oci/oci_backend.h"
#include "backends/providers/provider_mirrors.h"
#include "backends/providers/registry_provider_source.h"
#include "backends/registry/registry_backend.h"
#include "backends/registry/service_discovery.h"
#include "plugin/client/client_configuration.h"

namespace modlock {
namespace {

std::string user_agent(const ProcessEnvironment& environment) {
  const std::string own = fmt::format("tofu-modlock/{}", kVersion);
  const std::string_view more = environment.variable("TF_APPEND_USER_AGENT");
  return more.empty() ? own : fmt::format("{} {}", own, more);
}

// A server may know secrets from an earlier run that this one has not sent yet.
void add_configured(const ClientConfiguration& client, const ProcessEnvironment& environment, KnownSecrets& secrets) {
  for (const auto& [host, token] : client.tokens) {
    secrets.add(token.token.reveal());
  }
  for (const auto& [host, variable] : token_variables(environment)) {
    secrets.add(variable.token.reveal());
  }
  for (const ClientConfiguration::OciCredentials& block : client.oci) {
    for (const SecretText* secret : {&block.password, &block.access_token, &block.refresh_token}) {
      secrets.add(secret->reveal());
    }
  }
}

namespace fs = std::filesystem;

// Returns TF_PROVIDER_DOWNLOAD_RETRY if it is a number above zero, or else 2.
int download_retries(const ProcessEnvironment& environment) {
  return registry::positive_number(environment.variable("TF_PROVIDER_DOWNLOAD_RETRY")).value_or(2);
}

}  // namespace

Result<void> check_externals(std::vector<BackendSetting>& externals) {
  for (BackendSetting& setting : externals) {
    if (auto ok = check_external_command({setting.scheme, setting.command, setting.hosts}); !ok) {
      Error error = std::move(ok.error());
      error.location = setting.location;
      error.code = setting.location.range ? error.code : Code::invalid_params;
      return fail(std::move(error));
    }
    for (std::string& host : setting.hosts) {
      host = *host_in_sources(setting.scheme, host);
    }
  }
  return {};
}

std::string claims_of(const std::vector<BackendSetting>& externals) {
  std::string all;
  for (const BackendSetting& setting : externals) {
    const bool replaces_kind = setting.hosts.empty() && kind_of_getter(setting.scheme) != SourceKind::unsupported;
    for (const std::string& host : replaces_kind ? std::vector<std::string>{""} : setting.hosts) {
      all += fmt::format("{}\n{}\n{}\n\n", setting.scheme, host, fmt::join(setting.command, "\n"));
    }
  }
  return all.empty() ? all : sha256_hex(all);
}

Network::Network(const NetworkOptions& options, const Store& store)
    : tool_(options.tool),
      client_version_(options.client_version),
      token_realms_(options.token_realms),
      trusted_dates_(options.trusted_dates),
      memoizes_(options.memoizes),
      replacement_(options.replacement),
      store_(store),
      client_(read_client_configuration(options.tool, current_environment(), options.credential_programs)),
      wire_(make_curl_http_client(user_agent(current_environment()), options.connections)),
      http_(make_secret_recording_client(*wire_, secrets_)),
      credentials_(make_credentials(client_, current_environment())),
      responses_(store),
      caching_(make_caching_http_client(*http_, responses_, secrets_)),
      archives_(make_stored_archives(store)) {
  const ProcessEnvironment environment = current_environment();
  add_configured(client_, environment, secrets_);
  RegistryBackendOptions registry{.http = registry_http(*caching_),
                                  .client = client_,
                                  .others = backends_,
                                  .rules = client_rules(),
                                  .trusted_dates = options.trusted_dates};
  for (const BackendSetting& external : options.externals) {
    const ExternalCommand command{external.scheme, external.command, external.hosts};
    if (command.hosts.empty()) {
      continue;
    }
    std::unique_ptr<BackendCore> backend;
    if (command.scheme == "registry") {
      RegistryBackendOptions answered = registry;
      answered.ask = make_external_registry(command);
      answered.answered_by = command.name();
      backend = make_registry_backend(std::move(answered));
    } else if (command.scheme == "git") {
      backend = make_external_backend(command);
    } else {
      const SourceKind kind = kind_of_getter(command.scheme);  // of `archive`: none
      backend = make_answered_backend(command, *http_, [this, kind](HttpClient& http) {
        return kind == SourceKind::oci           ? make_oci_backend(http, *credentials_)
               : kind == SourceKind::unsupported ? make_archive_backend(http, *credentials_, backends_)
                                                 : make_archive_backend(http, *credentials_, backends_, kind);
      });
    }
    backends_.add(std::move(backend), {.secrets = &secrets_, .memoizes = memoizes_, .hosts = external.hosts});
  }
  add("git", make_git_backend({.cache_directory = store.git_directory(),
                               .http = http_.get(),
                               .engine = options.git_engine,
                               .memoizes = options.memoizes}));
  add("registry", make_registry_backend(std::move(registry)));
  add("archive", make_archive_backend(*http_, *credentials_, backends_));
  add("oci", make_oci_backend(*caching_, *credentials_, token_realms_));
  const auto serve_all = filtered(options.externals, [](const auto& external) { return external.hosts.empty(); });
  for (const SourceKind kind : {SourceKind::s3, SourceKind::gcs}) {
    if (find_by(serve_all, to_string(kind), &BackendSetting::scheme) == nullptr) {
      add(std::string(to_string(kind)), make_archive_backend(*http_, *credentials_, backends_, kind));
    }
  }
  for (const BackendSetting& external : serve_all) {
    if (!contains(names_, external.scheme)) {
      add(external.scheme, make_external_backend({external.scheme, external.command}));
    }
  }
}

registry::RegistryHttp Network::registry_http(HttpClient& http) const {
  const ProcessEnvironment environment = current_environment();
  return {http, *credentials_,
          registry::request_policy(client_, environment.variable("TF_REGISTRY_DISCOVERY_RETRY"),
                                   environment.variable("TF_REGISTRY_CLIENT_TIMEOUT")),
          client_version_};
}

Result<Listing> Network::list_versions(const Settings& settings, const SourceAddress& address,
                                       std::string_view tag_prefix, const Context& context) const {
  const Source& source = address.source;
  Backend* backend = backends_.find(source);
  if (backend == nullptr) {
    return fail(Code::source_unsupported,
                fmt::format("{} sources are not supported (\"{}\")", source.kind_name(), source.identity()),
                source.is_remote() ? "configure an external backend for this source type (docs/backends.md)"
                                   : "name a source with versions: a registry module, a git repository or an OCI "
                                     "repository");
  }
  MODLOCK_TRY(check_source_allowed(settings, source.identity()));
  return backend->list_versions(address, tag_prefix, context);
}

Result<std::map<std::string, std::string>> Network::services_of(std::string_view host, const Context& context) const {
  return registry::ServiceDiscovery(registry_http(*http_), client_).find_all(host, context);
}

std::shared_ptr<ProviderSource> Network::shared(const std::string& name,
                                                const std::function<std::unique_ptr<ProviderSource>()>& make) const {
  const std::lock_guard guard(shared_mutex_);
  std::shared_ptr<ProviderSource> own;
  std::shared_ptr<ProviderSource>& source = memoizes_ ? shared_[name] : own;
  if (source == nullptr) {
    source = make_shared_provider_source(make(), secrets_, {store_, trusted_dates_});
  }
  return source;
}

std::shared_ptr<ProviderSource> Network::registry_providers(int download_retries, bool of_each_platform) const {
  return shared(fmt::format("registries {} {}", download_retries, of_each_platform), [&] {
    const ProcessEnvironment environment = current_environment();
    // Any value other than "true" is ignored, as in OpenTofu.
    return make_registry_provider_source(
        {.http = registry_http(*caching_),
         .client = client_,
         .store = store_,
         .rules = client_rules(),
         .download_retries = download_retries,
         .enforce_signatures = environment.variable("OPENTOFU_ENFORCE_GPG_VALIDATION") == "true",
         .enforce_expiration = environment.variable("OPENTOFU_ENFORCE_GPG_EXPIRATION") == "true",
         .asks_of_each_platform = of_each_platform});
  });
}

std::unique_ptr<oci::Registry> Network::oci_registry() const {
  return std::make_unique<oci::Registry>(*http_, *credentials_, token_realms_);
}

Error Network::with_warnings(Error error) const {
  if (exit_code(error) == exit_code(Code::unreachable)) {
    for (const Diagnostic& warning : client_.warnings) {
      error.notes.push_back(warning.what.message);
    }
  }
  return error;
}

void Network::add(std::string name, std::unique_ptr<BackendCore> backend) {
  if (auto other = replacement_ ? replacement_(name) : nullptr) {
    backend = std::move(other);
  }
  backends_.add(std::move(backend), {.secrets = &secrets_, .memoizes = memoizes_});
  names_.push_back(std::move(name));
}

std::shared_ptr<const Network> NetworkPool::get(const NetworkOptions& options, const Store& store) {
  // Read before the files, so that a change in between is detected the next time.
  std::string state = client_configuration_state(options.tool, current_environment());
  const std::lock_guard guard(mutex_);
  Entry& entry = networks_[{options.tool, options.client_version}];
  if (entry.network == nullptr || entry.state != state) {
    entry.network = std::make_shared<const Network>(options, store);
    entry.state = std::move(state);
  }
  return entry.network;
}

// OpenTofu 1.12 added several registry features.
registry::ClientRules Network::client_rules() const {
  return tool_ == ClientKind::terraform ? registry::ClientRules::terraform
         : is_opentofu_from("1.12.0-0") ? registry::ClientRules::opentofu_1_12
                                        : registry::ClientRules::opentofu;
}

bool Network::is_opentofu_from(const char* release) const {
  const auto version = Version::parse(client_version_);
  return tool_ == ClientKind::opentofu && !(version && *version < *Version::parse(release));
}

std::shared_ptr<ProviderSource> Network::source_of(const ProviderInstallation::Method& method, std::size_t number,
                                                   const fs::path& root) const {
  using Kind = ProviderInstallation::Method::Kind;
  const ProcessEnvironment environment = current_environment();
  const int retries = method.download_retries.value_or(download_retries(environment));
  const auto make_mirror = [&]() -> std::unique_ptr<ProviderSource> {
    if (method.kind == Kind::oci_mirror) {
      return make_oci_mirror(method.repository, *caching_, *credentials_, *archives_, token_realms_);
    }
    return make_network_mirror(
        {.url = method.location,
         .download_retries = retries,
         .trust_all_hashes = method.trust_all_hashes && is_opentofu_from("1.12.0-0"),
         .records_listed_hashes = is_opentofu_from("1.10.0-0"),
         .requires_signatures = environment.variable("OPENTOFU_ENFORCE_GPG_VALIDATION") == "true"},
        registry_http(*caching_), *http_, *archives_);
  };
  switch (method.kind) {
    case Kind::filesystem_mirror:
      return make_filesystem_mirror(root / method.location, *archives_, store_);
    case Kind::network_mirror:
    case Kind::oci_mirror:
      return shared(fmt::format("method {}", number), make_mirror);
    case Kind::direct:
      break;
  }
  return registry_providers(retries, false);
}

std::vector<ProviderSelector> Network::explicit_sources(const ProviderInstallation& installation,
                                                        const fs::path& root) const {
  std::vector<ProviderSelector> selectors;
  for (std::size_t i = 0; i < installation.methods.size(); ++i) {
    const ProviderInstallation::Method& method = installation.methods[i];
    if (method.kind != ProviderInstallation::Method::Kind::oci_mirror || is_opentofu_from("1.10.0-0")) {
      selectors.push_back({.source = source_of(method, i, root),
                           .serves = [method](const ProviderAddress& provider) { return method.serves(provider); }});
    }
  }
  return selectors;
}

std::vector<ProviderSelector> Network::implied_sources(const fs::path& root) const {
  std::vector<ProviderSelector> selectors;
  std::set<ProviderAddress> local;
  const ProcessEnvironment environment = current_environment();
  for (const fs::path& directory : implied_provider_directories(tool_, environment, root)) {
    if (!path_is_directory(directory)) {
      continue;
    }
    if (const auto found = find_local_providers(directory)) {
      std::ranges::transform(*found, std::inserter(local, local.end()), [](const auto& entry) { return entry.first; });
    }
    selectors.push_back({.source = make_filesystem_mirror(directory, *archives_, store_),
                         .serves = [](const ProviderAddress&) { return true; }});
  }
  selectors.push_back(
      {.source = registry_providers(download_retries(environment), false),
       .serves = [local = std::move(local)](const ProviderAddress& provider) { return local.count(provider) == 0; }});
  return selectors;
}

std::shared_ptr<ProviderSource> Network::provider_source() const {
  return registry_providers(download_retries(current_environment()), true);
}

std::shared_ptr<ProviderSource> Network::provider_source(const fs::path& root) const {
  const auto& installation = client_.provider_installation;
  auto selectors = installation ? explicit_sources(*installation, root) : implied_sources(root);
  return make_shared_provider_source(make_multi_source(std::move(selectors)), secrets_, {store_, trusted_dates_});
}

}  // namespace modlock
