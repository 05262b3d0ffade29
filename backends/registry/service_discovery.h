#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "backends/base/single_flight_map.h"
#include "backends/credentials/client_configuration.h"
#include "backends/registry/registry_http.h"

namespace modlock::registry {

// Finds the services of a host: OpenTofu's remote service discovery (svchost/disco). Thread-safe. Queries a host once
// in the life of the object; concurrent callers wait for the first one. A failure is returned to all waiting callers
// and to later ones within `kFailureLife`, so that a run does not wait for a dead host repeatedly. After that the host
// is queried again.
class ServiceDiscovery {
 public:
  static constexpr std::chrono::seconds kFailureLife{10};

  ServiceDiscovery(const RegistryHttp& http, const ClientConfiguration& client) : http_(http), client_(client) {}

  // Returns the base URL of a service ("modules.v1") of a host (Source::host): absolute, http or https, without
  // user-info, query and fragment, ending in "/". A `host` block of the client configuration replaces the request. If a
  // host names a URL on another host, that URL is checked (check_url_allowed()): SOURCE_DENIED.
  // Errors: NOT_FOUND (the host has no such service, none at all, or only another version of it), BAD_RESPONSE (not a
  // JSON object, a Content-Type other than application/json, an invalid service URL), LIMIT_EXCEEDED (over 1 MiB), and
  // those of RegistryHttp::send().
  Result<std::string> find(std::string_view host, std::string_view service, const Context& context);

  // Whether a host has a service only in another version ("modules.v2" of "modules.v1"), so that find() fails. False if
  // the host cannot be queried.
  bool has_other_version(std::string_view host, std::string_view service, const Context& context);

  // Returns all services of a host by name, with the URLs that find() returns. Skips services without a usable URL.
  // Errors: those of find() that do not concern one service.
  Result<std::map<std::string, std::string>> find_all(std::string_view host, const Context& context);

 private:
  // The discovery document of a host.
  struct Services {
    std::string url;         // the URL of the document; relative service URLs start from it
    std::string configured;  // the location of the `host` block; empty: the document is the host's own
    // nullopt: present, but not a string.
    std::map<std::string, std::optional<std::string>, std::less<>> urls;
  };
  Result<Services> configured_or_asked(std::string_view host, const Context& context);
  Result<Services> ask(const std::string& host, const Context& context) const;
  static Result<Services> read_document(const HttpResponse& response, const std::string& purpose);
  static bool is_in_another_version(const Services& services, std::string_view service);
  static Error missing_service(const Services& services, std::string_view host, std::string_view service);
  static Result<std::string> service_url(const Services& services, std::string_view host, std::string_view service);

  const RegistryHttp& http_;
  const ClientConfiguration& client_;
  SingleFlightMap<std::string, Services> services_{std::chrono::steady_clock::duration::max(),
                                                   std::chrono::steady_clock::now, kFailureLife};  // by host in ASCII
};

}  // namespace modlock::registry
