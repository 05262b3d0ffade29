#pragma once

#include <filesystem>
#include <string>

#include "backends/registry/module_protocol.h"
#include "backends/registry/service_discovery.h"

namespace modlock::registry {

// What a client of module registries says and understands.
struct ClientTraits {
  std::string version;  // sent as X-Terraform-Version; empty: not sent
  LocationRules rules = LocationRules::opentofu_1_12;
};

// The requests of the protocol "modules.v1". Thread-safe. `source` is a registry source; its subdirectory is none of
// the registry's business.
class RegistryClient {
 public:
  RegistryClient(RegistryHttp http, const ClientConfiguration& client, ClientTraits traits)
      : http_(std::move(http)), discovery_(http_, client), traits_(std::move(traits)) {}

  // All versions of a module. Errors: NOT_FOUND (no such module, or no registry), those of parse_versions(),
  // ServiceDiscovery::find() and RegistryHttp::send().
  Result<Listing> versions(const Source& source, const Context& context);

  // Where a version lies. Errors as those of versions(), and of parse_location().
  Result<PackageLocation> locate(const Source& source, const std::string& version, const Context& context);

  // Downloads what the registry hands out itself, into a new directory below `parent`. Errors: those of
  // RegistryHttp::send() and unpack_archive(); BAD_RESPONSE (none of the formats).
  Result<FetchedTree> download(const Source& source, const std::string& version, const DirectPackage& package,
                               const std::filesystem::path& parent, const Context& context);

 private:
  struct Answer {
    HttpResponse response;
    std::string url;  // that was asked
  };
  Result<Answer> ask(const Source& source, const std::string& endpoint, const std::string& purpose, bool keep,
                     const Context& context);
  HttpRequest request(std::string url, std::string purpose) const;

  RegistryHttp http_;
  ServiceDiscovery discovery_;
  ClientTraits traits_;
};

// `version 1.2.0 of "registry.opentofu.org/modules/ns/name/sys"`, for messages.
std::string version_display(const Source& source, std::string_view version);

}  // namespace modlock::registry
