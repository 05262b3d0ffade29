#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"

namespace modlock::registry {

// Parses a number above zero like Go's strconv.Atoi.
std::optional<int> positive_number(std::string_view text);

// The client whose rules apply to the responses of registries.
enum class ClientRules {
  terraform,
  opentofu,      // up to 1.11
  opentofu_1_12  // and later: a registry may serve modules itself, and list the hashes of all packages of a provider
};

// The timeout and the retries of requests to a registry.
struct RequestPolicy {
  int retries = 1;  // of all requests except service discovery, which has none
  std::optional<std::chrono::milliseconds> timeout = std::chrono::seconds(10);  // of one attempt; nullopt: none
};

// Returns the policy of OpenTofu (internal/command/cliconfig/registry_protocols.go): the environment variables
// TF_REGISTRY_DISCOVERY_RETRY and TF_REGISTRY_CLIENT_TIMEOUT (seconds) if they are numbers above zero, then
// `registry_protocols`, then the defaults. A timeout of zero or less in `registry_protocols` means no timeout.
RequestPolicy request_policy(const ClientConfiguration& client, std::string_view retry_variable,
                             std::string_view timeout_variable);

// Sends requests as a client of registries does: within the request policy, and with the token of the registry's host.
class RegistryHttp {
 public:
  // `client_version` is X-Terraform-Version; empty: not sent.
  RegistryHttp(HttpClient& http, Credentials& credentials, RequestPolicy policy = {}, std::string client_version = {})
      : http_(http), credentials_(credentials), policy_(policy), client_version_(std::move(client_version)) {}

  // Returns a GET request with the deadlines and retries of the policy; the caller adds the rest.
  HttpRequest request(std::string url, std::string purpose) const;
  // Returns the same with the version of the client, for modules, providers and mirrors.
  HttpRequest client_request(std::string url, std::string purpose) const;

  // Sends a request with the token of `host` (Source::host; empty: anonymously), regardless of the host in its URL: a
  // registry's API may be on another host. As in OpenTofu, the request is anonymous if no token can be obtained.
  // Redirects are checked as sources (redirect_policy.h). Returns a 2xx response. Errors: those of expect_success(),
  // after a refusal with the searched locations (explain_refusal); CONFIG_PARSE of the credentials.
  Result<HttpResponse> send(HttpRequest request, std::string_view host, const Context& context) const;

 private:
  Result<void> authorise(HttpRequest& request, std::string_view host, const Context& context) const;

  HttpClient& http_;
  Credentials& credentials_;
  RequestPolicy policy_;
  std::string client_version_;
};

}  // namespace modlock::registry
