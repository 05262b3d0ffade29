#include "backends/registry/registry_http.h"

#include <fmt/format.h>

#include "backends/http/redirect_policy.h"
#include "protocol/base/result.h"

namespace modlock::registry {
namespace {

// Whether a failure to find a token ends the run rather than the attempt to be recognised.
bool ends_the_run(Code code) {
  return code == Code::config_parse || code == Code::request_cancelled || code == Code::deadline_exceeded;
}

}  // namespace

HttpRequest RegistryHttp::request(std::string url, std::string purpose) const {
  HttpRequest request;
  request.url = SecretText(std::move(url));
  request.purpose = std::move(purpose);
  request.retries = policy_.retries;
  request.timeouts.total = policy_.timeout;
  if (policy_.timeout) {
    request.timeouts.connect = request.timeouts.idle = *policy_.timeout;
  }
  if (!user_agent_.empty()) {
    request.headers.push_back({"User-Agent", user_agent_});
  }
  return request;
}

Result<void> RegistryHttp::authorise(HttpRequest& request, std::string_view host, const Context& context) const {
  const auto found = credentials_.find(CredentialUse::registry, host, "", context);
  if (!found) {
    if (ends_the_run(found.error().code)) {
      return fail(found.error());
    }
    context.log->write(LogLevel::warning,
                       fmt::format("no credentials for \"{}\": {}; asking anonymously", host, found.error().message));
    return {};
  }
  if (const auto* token = std::get_if<TokenCredential>(&found->secret)) {
    request.secret_headers.emplace_back("Authorization", SecretText("Bearer " + token->access_token.reveal()));
  }
  return {};
}

Result<HttpResponse> RegistryHttp::send(HttpRequest request, std::string_view host, const Context& context) const {
  request.check_redirect = redirect_policy(context);
  if (!host.empty()) {
    MODLOCK_TRY(authorise(request, host, context));
  }
  auto response = expect_success(http_.send(request, context), request);
  if (!response && !host.empty() &&
      (response.error().code == Code::auth_required || response.error().code == Code::forbidden)) {
    return fail(explain_refusal(std::move(response.error()), CredentialUse::registry, host, "", credentials_, context));
  }
  return response;
}

}  // namespace modlock::registry
