#include "backends/oci/token.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>

#include "backends/address/go_url.h"
#include "backends/base/digest.h"
#include "backends/http/redirect_policy.h"
#include "protocol/base/json.h"

namespace modlock::oci {
namespace {

constexpr std::size_t kAnswerLimit = std::size_t{128} << 10U;
constexpr std::chrono::seconds kShortestLifetime{60};
constexpr std::chrono::seconds kLongestLifetime = std::chrono::hours(24);
constexpr std::string_view kClientId = "tofu-modlock";

// The realm with these arguments beside its own.
std::string with_arguments(const TokenRequest& request) {
  const std::string base = request.realm.substr(0, request.realm.find_first_of("?#"));
  const auto url = GoUrl::parse(request.realm);
  QueryArguments query = url ? parse_query(url->raw_query) : QueryArguments{};
  if (!request.service.empty()) {
    query.erase(std::remove_if(query.begin(), query.end(), [](const auto& pair) { return pair.first == "service"; }),
                query.end());
    query.emplace_back("service", request.service);
  }
  for (const std::string& scope : request.scopes) {
    query.emplace_back("scope", scope);
  }
  return query.empty() ? base : fmt::format("{}?{}", base, encode_query(std::move(query)));
}

std::string refresh_form(const TokenRequest& request, const SecretText& refresh_token) {
  std::string scope;
  for (const std::string& one : request.scopes) {
    scope += scope.empty() ? one : " " + one;
  }
  return encode_query({{"grant_type", "refresh_token"},
                       {"refresh_token", refresh_token.reveal()},
                       {"service", request.service},
                       {"client_id", std::string(kClientId)},
                       {"scope", scope}});
}

const SecretText* refresh_token_of(const FoundCredential& credential) {
  const auto* const token = std::get_if<TokenCredential>(&credential.secret);
  return token != nullptr && !token->refresh_token.empty() ? &token->refresh_token : nullptr;
}

// What can stand in a header line.
bool is_header_text(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

}  // namespace

Result<Token> request_token(HttpClient& http, const TokenRequest& request, const FoundCredential& credential,
                            const Repository& repository, const Context& context) {
  HttpRequest ask;
  ask.purpose = fmt::format("get a token for \"{}\"", repository.display);
  ask.headers = {{"Accept", "application/json"}};
  ask.body_limit = kAnswerLimit;
  ask.timeouts.total = kSmallAnswerTime;
  ask.check_redirect = redirect_policy(context);
  if (const SecretText* const refresh_token = refresh_token_of(credential)) {
    ask.method = HttpRequest::Method::post;
    ask.url = SecretText(request.realm);
    ask.headers.push_back({"Content-Type", "application/x-www-form-urlencoded"});
    ask.body = refresh_form(request, *refresh_token);
    ask.redirects = 0;
  } else {
    ask.url = SecretText(with_arguments(request));
    if (const auto* const basic = std::get_if<BasicCredential>(&credential.secret)) {
      ask.secret_headers.emplace_back("Authorization", basic_authorization(*basic));
    }
  }
  const auto response = expect_success(http.send(ask, context), ask);
  return response ? parse_token(response->body, repository.display) : fail(response.error());
}

Result<Token> parse_token(std::string_view body, std::string_view display) {
  const auto refused = [display](std::string_view why) {
    return fail(Code::bad_response, fmt::format("the token service of \"{}\" sent {}", display, why),
                "ask the registry's operator; its token service is not working");
  };
  const auto json = parse_json(body);
  if (!json || !json->isObject()) {
    return refused("an answer that is no JSON object");
  }
  for (const char* const name : {"access_token", "token"}) {
    const Json::Value& value = (*json)[name];
    if (!value.isString() || value.asString().empty()) {
      continue;
    }
    if (!is_header_text(value.asString())) {
      return refused("a token that no header can hold");
    }
    const Json::Value& seconds = (*json)["expires_in"];
    const std::chrono::seconds lifetime(seconds.isInt64() ? seconds.asInt64() : std::int64_t{0});
    return Token{SecretText(value.asString()), std::clamp(lifetime, kShortestLifetime, kLongestLifetime)};
  }
  return refused("no token");
}

SecretText basic_authorization(const BasicCredential& credential) {
  const std::string text = credential.user.reveal() + ":" + credential.password.reveal();
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  return SecretText("Basic " + base64(bytes.data(), bytes.size()));
}

}  // namespace modlock::oci
