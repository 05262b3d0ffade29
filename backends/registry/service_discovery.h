#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "backends/credentials/client_configuration.h"
#include "backends/registry/registry_http.h"

namespace modlock::registry {

// Where the services of a host live: OpenTofu's remote service discovery (svchost/disco). Thread-safe. A host is asked
// once in the life of the object, by whoever comes first while the others wait. A failure is told to all who waited and
// to those who come within `kFailureLife`, so that a run does not wait for a dead host again and again; a long-lived
// process asks again later.
class ServiceDiscovery {
 public:
  static constexpr std::chrono::seconds kFailureLife{10};

  ServiceDiscovery(const RegistryHttp& http, const ClientConfiguration& client) : http_(http), client_(client) {}

  // The base URL of a service ("modules.v1") of a host (Source::host): absolute, http or https, without user-info,
  // query and fragment, ending in "/". A `host` block of the client configuration takes the place of the request. A URL
  // of another host that the host names itself is checked (check_url_allowed()): SOURCE_DENIED.
  // Errors: NOT_FOUND (the host has no such service, or none at all; not in this version), BAD_RESPONSE (no JSON
  // object, another Content-Type than application/json, a service URL that is none), LIMIT_EXCEEDED (over 1 MiB), and
  // those of RegistryHttp::send().
  Result<std::string> find(std::string_view host, std::string_view service, const Context& context);

  // Whether a host has a service in another version alone ("modules.v2" of "modules.v1"), so that find() fails. Where
  // it cannot be asked, it has not.
  bool has_other_version(std::string_view host, std::string_view service, const Context& context);

  // All services of a host by name, as find() gives each; without those that have no usable URL. Errors: those of
  // find() that are not about one service.
  Result<std::map<std::string, std::string>> find_all(std::string_view host, const Context& context);

 private:
  // What a host says of itself.
  struct Services {
    std::string url;         // of the document: relative service URLs start from it
    std::string configured;  // where the `host` block is that says it; empty: the host itself
    // nullopt: there, and not a text.
    std::map<std::string, std::optional<std::string>, std::less<>> urls;
  };
  struct Entry {
    bool asking = false;
    std::optional<Result<Services>> answer;
    std::chrono::steady_clock::time_point answered_at;

    bool is_known() const;
  };

  Result<Services> configured_or_asked(std::string_view host, const Context& context);
  Result<Services> services_of(const std::string& host, const Context& context);
  Result<Services> ask(const std::string& host, const Context& context) const;
  static Result<Services> read_document(const HttpResponse& response, const std::string& purpose);
  static bool is_in_another_version(const Services& services, std::string_view service);
  static Error missing_service(const Services& services, std::string_view host, std::string_view service);
  static Result<std::string> service_url(const Services& services, std::string_view host, std::string_view service);

  const RegistryHttp& http_;
  const ClientConfiguration& client_;
  std::mutex mutex_;
  std::condition_variable_any answered_;
  std::map<std::string, Entry> entries_;  // by host in ASCII
};

}  // namespace modlock::registry
