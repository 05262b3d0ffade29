#include "backends/providers/provider_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/http/url.h"
#include "protocol/base/result.h"

namespace modlock::provider_registry {
namespace {

constexpr std::string_view kService = "providers.v1";
constexpr std::size_t kFileLimit = std::size_t{4} << 20U;

// Adds the request to an error about the response.
Error about_answer(Error error, const ProviderAddress& provider, const HttpResponse& response) {
  error.message = fmt::format("could not query provider registry for {}: {}: {}", provider.to_string(),
                              printable_url(response.url.reveal()), error.message);
  if (error.hint.empty()) {
    error.hint = "contact the operator of the registry";
  }
  return error;
}

// Uses the clients' wording as the message, and ours as a note.
Error in_words(Error error, std::string message) {
  error.notes.insert(error.notes.begin(), std::exchange(error.message, std::move(message)));
  return error;
}

Result<HttpResponse> expect_status(Result<HttpResponse> response, const std::string& purpose, bool is_part) {
  if (response && response->status != 200 && !(is_part && response->status == 206)) {
    return fail(Code::bad_response, fmt::format("could not {}: {}: expected status 200, got {}", purpose,
                                                printable_url(response->url.reveal()), response->status));
  }
  return response;
}

}  // namespace

std::string release_display(const ProviderAddress& provider, const ProviderVersion& version) {
  return fmt::format("{} {}", provider.to_string(), version.to_string());
}

Result<std::string> ProviderClient::base_of(const ProviderAddress& provider, const std::string& purpose,
                                            const Context& context) {
  auto base = discovery_.find(provider.host(), kService, context);
  if (base) {
    return base;
  }
  Error error = std::move(base.error());
  if (error.code == Code::not_found) {
    error = in_words(std::move(error), no_registry(provider, context));
    // The registry is missing, not the provider: as in the clients, no other source is tried.
    error.code = Code::bad_response;
  }
  return fail(with_note(std::move(error), fmt::format("needed to {}", purpose)));
}

std::string ProviderClient::no_registry(const ProviderAddress& provider, const Context& context) {
  const char* const client = rules_ == ClientRules::terraform ? "Terraform" : "OpenTofu";
  return discovery_.has_other_version(provider.host(), kService, context)
             ? fmt::format(
                   "host {} does not support the provider registry protocol required by this {} version, but "
                   "may be compatible with a different {} version",
                   provider.host(), client, client)
             : fmt::format("host {} does not offer a {} provider registry", provider.host(), client);
}

Result<HttpResponse> ProviderClient::ask(const ProviderAddress& provider, const std::string& base,
                                         const std::string& endpoint, std::string purpose,
                                         const Context& context) const {
  const std::string path = fmt::format("{}/{}/{}", provider.name_space(), provider.type(), endpoint);
  HttpRequest request = http_.client_request(resolve_url(base, path).value_or(base + path), purpose);
  request.keep = true;
  return expect_status(http_.send(std::move(request), provider.host(), context), purpose, false);
}

Result<ProviderVersions> ProviderClient::versions(const ProviderAddress& provider, const Context& context) {
  const std::string name = provider.to_string();
  const std::string purpose = fmt::format("list the versions of {}", name);
  MODLOCK_TRY(const auto base, base_of(provider, purpose, context));
  auto response = ask(provider, base, "versions", purpose, context);
  if (!response) {
    Error error = std::move(response.error());
    if (error.code == Code::not_found) {
      error = in_words(std::move(error),
                       fmt::format("provider registry {} does not have a provider named {}", provider.host(), name));
      error.hint =
          "check the source address in required_providers; a registry may also hide private providers from anonymous "
          "requests: " +
          tofu_modlock("explain", "--credentials", provider.host());
    }
    return fail(std::move(error));
  }
  auto versions = parse_versions(response->body);
  return versions ? std::move(versions) : fail(about_answer(std::move(versions.error()), provider, *response));
}

Result<PackageMetadata> ProviderClient::package(const ProviderAddress& provider, const ProviderVersion& version,
                                                const Platform& platform, const Context& context) {
  const std::string name = release_display(provider, version);
  const std::string purpose = fmt::format("find the package of {} for {}", name, platform.to_string());
  MODLOCK_TRY(const auto base, base_of(provider, purpose, context));
  auto response = ask(provider, base, fmt::format("{}/download/{}/{}", version.to_string(), platform.os, platform.arch),
                      purpose, context);
  if (!response) {
    Error error = std::move(response.error());
    if (error.code == Code::not_found) {
      error =
          in_words(std::move(error), fmt::format("provider {} is not available for {}", name, platform.to_string()));
      error.hint = "choose another version, or omit the platform";
    }
    return fail(std::move(error));
  }
  auto metadata = parse_package(response->body, response->url.reveal(), platform, rules_);
  return metadata ? std::move(metadata) : fail(about_answer(std::move(metadata.error()), provider, *response));
}

Result<std::string> ProviderClient::file(const SecretText& url, std::string purpose, const Context& context) {
  HttpRequest request = http_.request(url.reveal(), std::move(purpose));
  request.body_limit = kFileLimit;
  request.keep = true;
  return send_anonymously(std::move(request), context).map([](HttpResponse response) {
    return std::move(response.body);
  });
}

HttpRequest ProviderClient::archive_request(const SecretText& url, std::string purpose) const {
  HttpRequest request = http_.request(url.reveal(), std::move(purpose));
  request.timeouts = HttpTimeouts{};
  request.retries = download_retries_;
  return request;
}

Result<HttpResponse> ProviderClient::send_anonymously(HttpRequest request, const Context& context) const {
  MODLOCK_TRY(check_url_allowed(request.url.reveal(), context));
  const bool is_part = std::ranges::find(request.headers, "Range", &HttpHeader::name) != request.headers.end();
  std::string purpose = request.purpose;
  return expect_status(http_.send(std::move(request), "", context), purpose, is_part);
}

}  // namespace modlock::provider_registry
