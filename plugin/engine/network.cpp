#include "plugin/engine/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/archive/archive_backend.h"
#include "backends/base/build_info.h"
#include "backends/base/environment.h"
#include "backends/credentials/registry_credential_finder.h"
#include "backends/external/external_backend.h"
#include "backends/git/git_backend.h"
#include "backends/http/wrapping_clients.h"
#include "backends/oci/oci_backend.h"
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

// OpenTofu 1.12 added several registry features.
bool is_before_1_12(std::string_view client_version) {
  const auto release = Version::parse(client_version);
  return release && *release < *Version::parse("1.12.0-0");
}

registry::ClientRules client_rules(ClientKind tool, std::string_view client_version) {
  if (tool == ClientKind::terraform) {
    return registry::ClientRules::terraform;
  }
  return is_before_1_12(client_version) ? registry::ClientRules::opentofu : registry::ClientRules::opentofu_1_12;
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

}  // namespace

Result<void> check_externals(const std::vector<BackendSetting>& externals) {
  for (const BackendSetting& setting : externals) {
    if (auto ok = check_external_command({setting.scheme, setting.command}); !ok) {
      Error error = std::move(ok.error());
      error.location = setting.location;
      error.code = setting.location.range ? error.code : Code::invalid_params;
      return fail(std::move(error));
    }
  }
  return {};
}

Network::Network(const NetworkOptions& options, const Store& store)
    : tool_(options.tool),
      client_version_(options.client_version),
      token_realms_(options.token_realms),
      trusted_dates_(options.trusted_dates),
      memoizes_(options.memoizes),
      replacement_(options.replacement),
      store_(store),
      client_(read_client_configuration(options.tool, current_environment())),
      wire_(make_curl_http_client(user_agent(current_environment()), options.connections)),
      http_(make_secret_recording_client(*wire_, secrets_)),
      credentials_(make_credentials(client_, current_environment())),
      responses_(store),
      caching_(make_caching_http_client(*http_, responses_, secrets_)),
      archives_(make_stored_archives(store)) {
  const ProcessEnvironment environment = current_environment();
  add_configured(client_, environment, secrets_);
  add("git", make_git_backend({.cache_directory = store.git_directory(),
                               .http = http_.get(),
                               .engine = options.git_engine == "git"       ? GitEngine::git
                                         : options.git_engine == "libgit2" ? GitEngine::libgit2
                                                                           : GitEngine::automatic,
                               .memoizes = options.memoizes}));
  add("registry", make_registry_backend({.http = *caching_,
                                         .credentials = *credentials_,
                                         .client = client_,
                                         .others = backends_,
                                         .policy = registry_policy(),
                                         .client_version = options.client_version,
                                         .rules = client_rules(options.tool, options.client_version),
                                         .trusted_dates = options.trusted_dates}));
  add("archive", make_archive_backend(*http_, *credentials_, backends_));
  add("oci", make_oci_backend(*caching_, *credentials_, token_realms_));
  for (const BackendSetting& external : options.externals) {
    if (std::ranges::find(names_, external.scheme) == names_.end()) {
      add(external.scheme, make_external_backend({external.scheme, external.command}));
    }
  }
}

registry::RequestPolicy Network::registry_policy() const {
  const ProcessEnvironment environment = current_environment();
  return registry::request_policy(client_, environment.variable("TF_REGISTRY_DISCOVERY_RETRY"),
                                  environment.variable("TF_REGISTRY_CLIENT_TIMEOUT"));
}

registry::RegistryHttp Network::registry_http(HttpClient& http) const {
  return {http, *credentials_, registry_policy(), user_agent(current_environment())};
}

Result<Listing> Network::list_versions(const Settings& settings, const SourceAddress& address,
                                       std::string_view tag_prefix, const Context& context) const {
  const Source& source = address.source;
  Backend* backend = backends_.find(source);
  if (backend == nullptr) {
    return fail(Code::source_unsupported,
                fmt::format("{} sources are not supported (\"{}\")",
                            source.getter.empty() ? to_string(source.kind) : source.getter, source.identity()),
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
  if (!memoizes_) {
    return make_shared_provider_source(make(), secrets_, {store_, trusted_dates_}, false);
  }
  const std::lock_guard guard(shared_mutex_);
  std::shared_ptr<ProviderSource>& source = shared_[name];
  if (source == nullptr) {
    source = make_shared_provider_source(make(), secrets_, {store_, trusted_dates_}, true);
  }
  return source;
}

std::shared_ptr<ProviderSource> Network::registry_providers(int download_retries, bool of_each_platform) const {
  return shared(fmt::format("registries {} {}", download_retries, of_each_platform),
                [&] { return new_registry_providers(download_retries, of_each_platform); });
}

std::unique_ptr<ProviderSource> Network::new_registry_providers(int download_retries, bool of_each_platform) const {
  const ProcessEnvironment environment = current_environment();
  // Any value other than "true" is ignored, as in OpenTofu.
  return make_registry_provider_source(
      {.http = *caching_,
       .credentials = *credentials_,
       .client = client_,
       .store = store_,
       .policy = registry_policy(),
       .rules = client_rules(tool_, client_version_),
       .client_version = client_version_,
       .download_retries = download_retries,
       .enforce_signatures = environment.variable("OPENTOFU_ENFORCE_GPG_VALIDATION") == "true",
       .enforce_expiration = environment.variable("OPENTOFU_ENFORCE_GPG_EXPIRATION") == "true",
       .asks_of_each_platform = of_each_platform});
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

}  // namespace modlock
