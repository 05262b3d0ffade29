#include "backends/registry/registry_http.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include "protocol/base/result.h"

namespace modlock::registry {
namespace {

// Longer than any run, and small enough not to overflow.
constexpr std::chrono::seconds kLongest = std::chrono::hours(24);

// Whether an error of the token lookup ends the run. Other errors only make the request anonymous.
bool ends_the_run(Code code) {
  return code == Code::config_parse || code == Code::request_cancelled || code == Code::deadline_exceeded;
}

}  // namespace

std::optional<int> positive_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
  }
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && number > 0 ? std::optional(number) : std::nullopt;
}

RequestPolicy request_policy(const ClientConfiguration& client, std::string_view retry_variable,
                             std::string_view timeout_variable) {
  RequestPolicy policy;
  if (const auto retries = positive_number(retry_variable)) {
    policy.retries = *retries;
  } else if (client.retry_count) {
    policy.retries = std::max(0, *client.retry_count);
  }
  std::optional<std::chrono::seconds> timeout = client.request_timeout;
  if (const auto seconds = positive_number(timeout_variable)) {
    timeout = std::chrono::seconds(*seconds);
  }
  if (timeout) {
    policy.timeout.reset();
    if (timeout->count() > 0) {
      policy.timeout = std::min(*timeout, kLongest);
    }
  }
  return policy;
}

HttpRequest RegistryHttp::request(std::string url, std::string purpose) const {
  HttpRequest request;
  request.url = SecretText(std::move(url));
  request.purpose = std::move(purpose);
  request.retries = policy_.retries;
  request.timeouts.total = policy_.timeout;
  if (policy_.timeout) {
    request.timeouts.connect = request.timeouts.idle = *policy_.timeout;
  }
  return request;
}

HttpRequest RegistryHttp::client_request(std::string url, std::string purpose) const {
  HttpRequest versioned = request(std::move(url), std::move(purpose));
  if (!client_version_.empty()) {
    versioned.headers.push_back({"X-Terraform-Version", client_version_});
  }
  return versioned;
}

Result<void> RegistryHttp::authorise(HttpRequest& request, std::string_view host, const Context& context) const {
  const auto found = credentials_.find({CredentialUse::registry, std::string(host)}, context);
  if (!found) {
    if (ends_the_run(found.error().code)) {
      return fail(found.error());
    }
    context.log->write(LogLevel::warning, fmt::format("no credentials for \"{}\": {}; sending an anonymous request",
                                                      host, found.error().message));
    return {};
  }
  if (const auto* token = std::get_if<TokenCredential>(&found->secret)) {
    request.secret_headers.emplace_back("Authorization", SecretText("Bearer " + token->access_token.reveal()));
  }
  return {};
}

Result<HttpResponse> RegistryHttp::send(HttpRequest request, std::string_view host, const Context& context) const {
  if (!host.empty()) {
    MODLOCK_TRY(authorise(request, host, context));
  }
  return expect_success(http_.send(request, context), request).map_error([&](Error error) {
    return host.empty()
               ? error
               : explain_refusal(std::move(error), {CredentialUse::registry, std::string(host)}, credentials_, context);
  });
}

}  // namespace modlock::registry
