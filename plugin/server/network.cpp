#include "plugin/server/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/archive/archive_backend.h"
#include "backends/credentials/make_credentials.h"
#include "backends/credentials/registry_places.h"
#include "backends/external/external_backend.h"
#include "backends/git/git_backend.h"
#include "backends/git/led_git_backend.h"
#include "backends/http/curl_http_client.h"
#include "backends/http/remembering_client.h"
#include "backends/oci/oci_backend.h"
#include "backends/registry/registry_backend.h"
#include "backends/registry/service_discovery.h"
#include "backends/scrubbing_backend.h"
#include "plugin/build_info.h"
#include "plugin/config/client_configuration.h"

namespace modlock {
namespace {

std::string user_agent(const Surroundings& surroundings) {
  const std::string own = fmt::format("tofu-modlock/{}", kVersion);
  const std::string_view more = surroundings.variable("TF_APPEND_USER_AGENT");
  return more.empty() ? own : fmt::format("{} {}", own, more);
}

// OpenTofu from 1.12 on lets a registry hand out packages itself.
registry::LocationRules location_rules(const NetworkOptions& options) {
  if (options.tool == Tool::terraform) {
    return registry::LocationRules::terraform;
  }
  const auto release = Version::parse(options.client_version);
  const bool is_older = release && *release < *Version::parse("1.12.0-0");
  return is_older ? registry::LocationRules::opentofu : registry::LocationRules::opentofu_1_12;
}

// A server may know from an earlier run what this one has not sent yet.
void add_configured(const ClientConfiguration& client, const Surroundings& surroundings, KnownSecrets& secrets) {
  for (const auto& [host, token] : client.tokens) {
    secrets.add(token.token.reveal());
  }
  for (const auto& [host, variable] : token_variables(surroundings)) {
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
    : client_(read_client_configuration(options.tool, current_surroundings())),
      wire_(make_curl_http_client(user_agent(current_surroundings()))),
      http_(make_remembering_client(*wire_, secrets_)),
      credentials_(make_credentials(client_, current_surroundings())),
      responses_(store),
      keeping_(make_keeping_client(*http_, responses_, secrets_)) {
  const Surroundings surroundings = current_surroundings();
  add_configured(client_, surroundings, secrets_);
  add("git", make_git_backend({.cache_directory = store.git_directory(),
                               .http = http_.get(),
                               .engine = options.git_engine == "git"       ? GitEngine::git
                                         : options.git_engine == "libgit2" ? GitEngine::libgit2
                                                                           : GitEngine::automatic}));
  add("registry", make_registry_backend(
                      {.http = *keeping_,
                       .credentials = *credentials_,
                       .client = client_,
                       .others = led_,
                       .policy = registry::request_policy(client_, surroundings.variable("TF_REGISTRY_DISCOVERY_RETRY"),
                                                          surroundings.variable("TF_REGISTRY_CLIENT_TIMEOUT")),
                       .client_version = options.client_version,
                       .rules = location_rules(options)}));
  add("archive", make_archive_backend(*http_, *credentials_, led_));
  add("oci", make_oci_backend(*keeping_, *credentials_));
  for (const BackendSetting& external : options.externals) {
    if (std::find(names_.begin(), names_.end(), external.scheme) == names_.end()) {
      add(external.scheme, make_external_backend({external.scheme, external.command}));
    }
  }
}

Result<std::map<std::string, std::string>> Network::services_of(std::string_view host, const Context& context) const {
  const Surroundings surroundings = current_surroundings();
  const registry::RegistryHttp http(
      *http_, *credentials_,
      registry::request_policy(client_, surroundings.variable("TF_REGISTRY_DISCOVERY_RETRY"),
                               surroundings.variable("TF_REGISTRY_CLIENT_TIMEOUT")),
      user_agent(surroundings));
  return registry::ServiceDiscovery(http, client_).find_all(host, context);
}

Error Network::with_warnings(Error error) const {
  if (exit_code(error) == exit_code(Code::unreachable)) {
    for (const Diagnostic& warning : client_.warnings) {
      error.notes.push_back(warning.what.message);
    }
  }
  return error;
}

void Network::add(std::string name, std::unique_ptr<Backend> backend) {
  const std::shared_ptr<Backend> shared = make_scrubbing_backend(std::move(backend), secrets_);
  backends_.add(shared);
  led_.add(name == "git" ? make_led_git_backend(shared) : shared);
  names_.push_back(std::move(name));
}

}  // namespace modlock
