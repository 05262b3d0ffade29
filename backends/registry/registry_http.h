#pragma once

#include <string>
#include <string_view>

#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"
#include "backends/registry/request_policy.h"

namespace modlock::registry {

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
  // Redirects are judged as sources (redirect_policy.h). Answers a response of 2xx. Errors: those of expect_success(),
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
