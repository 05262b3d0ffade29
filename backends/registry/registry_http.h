#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"

namespace modlock::registry {

// How long a registry is waited for, and how often it is asked again.
struct RequestPolicy {
  int retries = 1;  // of everything but service discovery, which is asked once
  std::optional<std::chrono::milliseconds> timeout = std::chrono::seconds(10);  // of one attempt; nullopt: none
};

// The policy of OpenTofu (internal/command/cliconfig/registry_protocols.go): the values of the environment variables
// TF_REGISTRY_DISCOVERY_RETRY and TF_REGISTRY_CLIENT_TIMEOUT (seconds) where they are numbers above zero, then
// `registry_protocols`, then the defaults. A timeout that is not above zero in `registry_protocols` means none.
RequestPolicy request_policy(const ClientConfiguration& client, std::string_view retry_variable,
                             std::string_view timeout_variable);

// HTTP as a client of registries speaks it: within the request policy, and with the token of the registry's host.
class RegistryHttp {
 public:
  // `user_agent` empty: that of `http`.
  RegistryHttp(HttpClient& http, Credentials& credentials, RequestPolicy policy, std::string user_agent)
      : http_(http), credentials_(credentials), policy_(policy), user_agent_(std::move(user_agent)) {}

  // A GET request with the deadlines and the retries of the policy; the caller adds what is its own.
  HttpRequest request(std::string url, std::string purpose) const;

  // Sends a request with the token of `host` (Source::host; empty: anonymously), wherever its URL leads: a registry's
  // API may live on another host than its name. Where no token can be had, the request is anonymous, as OpenTofu's is.
  // Redirects are checked as sources (redirect_policy.h). Answers a response of 2xx. Errors: those of expect_success(),
  // of a refusal with the places that were looked in (explain_refusal); CONFIG_PARSE of the credentials.
  Result<HttpResponse> send(HttpRequest request, std::string_view host, const Context& context) const;

 private:
  Result<void> authorise(HttpRequest& request, std::string_view host, const Context& context) const;

  HttpClient& http_;
  Credentials& credentials_;
  RequestPolicy policy_;
  std::string user_agent_;
};

}  // namespace modlock::registry
