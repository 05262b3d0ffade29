#pragma once

#include <string>
#include <utility>

#include "backends/address/provider_address.h"
#include "backends/providers/provider_protocol.h"
#include "backends/registry/registry_http.h"
#include "backends/registry/service_discovery.h"

namespace modlock::provider_registry {

// Sends the requests of the protocol "providers.v1". Thread-safe; caches nothing. Errors of every call: NOT_FOUND in
// OpenTofu's words, BAD_RESPONSE (in OpenTofu's words if the host has no provider registry, else with provider, version
// and URL), and those of ServiceDiscovery::find() and RegistryHttp::send().
class ProviderClient {
 public:
  // `download_retries`: of an archive, after the first attempt.
  ProviderClient(registry::RegistryHttp http, const ClientConfiguration& client,
                 ClientRules rules = ClientRules::opentofu_1_12, int download_retries = 2)
      : http_(std::move(http)), discovery_(http_, client), rules_(rules), download_retries_(download_retries) {}

  Result<ProviderVersions> versions(const ProviderAddress& provider, const Context& context);

  // Returns the registry's data about the package of one platform.
  Result<PackageMetadata> package(const ProviderAddress& provider, const ProviderVersion& version,
                                  const Platform& platform, const Context& context);

  // Downloads a small file of a release anonymously, from any host: the checksums or their signature. `purpose`:
  // "download the checksums of …".
  Result<std::string> file(const SecretText& url, std::string purpose, const Context& context);

  // Returns a request for an archive, without a total timeout, to be sent with send_anonymously().
  HttpRequest archive_request(const SecretText& url, std::string purpose) const;
  // Returns a response with status 200, or 206 if a part was requested. Checks the URL. Errors: SOURCE_DENIED too.
  Result<HttpResponse> send_anonymously(HttpRequest request, const Context& context) const;

 private:
  Result<std::string> base_of(const ProviderAddress& provider, const std::string& purpose, const Context& context);
  std::string no_registry(const ProviderAddress& provider, const Context& context);
  Result<HttpResponse> ask(const ProviderAddress& provider, const std::string& base, const std::string& endpoint,
                           std::string purpose, const Context& context) const;

  registry::RegistryHttp http_;
  registry::ServiceDiscovery discovery_;
  ClientRules rules_;
  int download_retries_;
};

// Returns "registry.opentofu.org/hashicorp/null 3.2.0", for messages.
std::string release_display(const ProviderAddress& provider, const ProviderVersion& version);

}  // namespace modlock::provider_registry
