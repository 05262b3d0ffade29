#pragma once

#include <filesystem>
#include <string>

#include "backends/registry/module_protocol.h"
#include "backends/registry/service_discovery.h"

namespace modlock::registry {

// How the client of module registries identifies itself and reads locations.
struct ClientTraits {
  std::string version;  // sent as X-Terraform-Version; empty: not sent
  ClientRules rules = ClientRules::opentofu_1_12;
};

// Sends the requests of the protocol "modules.v1". Thread-safe. `source` is a registry source; its subdirectory is
// ignored.
class RegistryClient {
 public:
  RegistryClient(RegistryHttp http, const ClientConfiguration& client, ClientTraits traits)
      : http_(std::move(http)), discovery_(http_, client), traits_(std::move(traits)) {}

  // Returns all versions of a module. Errors: NOT_FOUND (no such module or registry), those of parse_versions(),
  // ServiceDiscovery::find() and RegistryHttp::send().
  Result<Listing> versions(const Source& source, const Context& context);

  // Returns the location of a version. Errors: those of versions() and parse_location().
  Result<PackageLocation> locate(const Source& source, const std::string& version, const Context& context);

  // Downloads a package that the registry serves itself into a new directory below `parent`. Errors: those of
  // RegistryHttp::send() and unpack_archive(); BAD_RESPONSE (none of the formats).
  Result<FetchedTree> download(const Source& source, const std::string& version, const DirectPackage& package,
                               const std::filesystem::path& parent, const Context& context);

 private:
  struct Answer {
    HttpResponse response;
    std::string url;  // of the request
  };
  Result<Answer> ask(const Source& source, const std::string& endpoint, const std::string& purpose, bool keep,
                     const Context& context);
  HttpRequest request(std::string url, std::string purpose) const;

  RegistryHttp http_;
  ServiceDiscovery discovery_;
  ClientTraits traits_;
};

// Returns `version 1.2.0 of "registry.opentofu.org/modules/ns/name/sys"`, for messages.
std::string version_display(const Source& source, std::string_view version);

}  // namespace modlock::registry
