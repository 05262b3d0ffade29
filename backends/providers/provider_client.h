#pragma once

#include <string>
#include <utility>

#include "backends/address/provider_address.h"
#include "backends/providers/provider_protocol.h"
#include "backends/registry/registry_http.h"
#include "backends/registry/service_discovery.h"

namespace modlock::provider_registry {

// What a client of provider registries says and understands.
struct ClientTraits {
  std::string version;  // sent as X-Terraform-Version; empty: not sent
  ClientRules rules = ClientRules::opentofu_1_12;
  int download_retries = 2;  // of an archive, after the first attempt
};

// The requests of the protocol "providers.v1". Thread-safe; asks anew each time. Errors of every call: NOT_FOUND in
// OpenTofu's words, BAD_RESPONSE in its words where the host has no such registry, else naming provider, version and
// URL, and those of ServiceDiscovery::find() and RegistryHttp::send().
class ProviderClient {
 public:
  ProviderClient(registry::RegistryHttp http, const ClientConfiguration& client, ClientTraits traits)
      : http_(std::move(http)), discovery_(http_, client), traits_(std::move(traits)) {}

  Result<ProviderVersions> versions(const ProviderAddress& provider, const Context& context);

  // What a registry says of the package of one platform.
  Result<PackageMetadata> package(const ProviderAddress& provider, const ProviderVersion& version,
                                  const Platform& platform, const Context& context);

  // A small file of a release, wherever it lies, asked for anonymously: the checksums, their signature. `purpose`:
  // "download the checksums of …".
  Result<std::string> file(const SecretText& url, std::string purpose, const Context& context);

  // A request for an archive, which may take as long as it takes; to be sent with send_anonymously().
  HttpRequest archive_request(const SecretText& url, std::string purpose) const;
  // Answers 200, and 206 where a part was asked for; the URL is judged. Errors: SOURCE_DENIED too.
  Result<HttpResponse> send_anonymously(HttpRequest request, const Context& context) const;

  ClientRules rules() const { return traits_.rules; }

 private:
  Result<std::string> base_of(const ProviderAddress& provider, const std::string& purpose, const Context& context);
  std::string no_registry(const ProviderAddress& provider, const Context& context);
  Result<HttpResponse> ask(const ProviderAddress& provider, const std::string& base, const std::string& endpoint,
                           std::string purpose, const Context& context) const;

  registry::RegistryHttp http_;
  registry::ServiceDiscovery discovery_;
  ClientTraits traits_;
};

// "registry.opentofu.org/hashicorp/null 3.2.0", for messages.
std::string release_display(const ProviderAddress& provider, const ProviderVersion& version);

}  // namespace modlock::provider_registry
