#include "backends/oci/authorizer.h"

#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <variant>

#include "backends/address/go_url.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/http/url.h"
#include "protocol/base/system_reason.h"

namespace modlock::oci {
namespace {

// Whether resolvers parse the name as an address: its last label is a number, or it is in brackets.
bool is_ip_address(std::string_view host) {
  host = host.substr(0, host.size() - (host.empty() || host.back() != '.' ? 0 : 1));
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return host.substr(0, 1) == "[" || last.substr(0, 2) == "0x" ||
         (!last.empty() && std::ranges::all_of(last, ascii::is_digit));
}

std::string_view without_port(std::string_view authority) {
  return authority.substr(0, authority.find(':', authority.substr(0, 1) == "[" ? authority.find(']') : 0));
}

constexpr std::size_t kAnswerLimit = std::size_t{128} << 10U;
constexpr std::chrono::seconds kShortestLifetime{60};
constexpr std::chrono::seconds kLongestLifetime = std::chrono::hours(24);
constexpr std::string_view kClientId = "tofu-modlock";

// Adds these arguments to those of the realm.
std::string with_arguments(const TokenRequest& request) {
  const std::string base = request.realm.substr(0, request.realm.find_first_of("?#"));
  const auto url = GoUrl::parse(request.realm);
  QueryArguments query = url ? parse_query(url->raw_query) : QueryArguments{};
  if (!request.service.empty()) {
    std::erase_if(query, [](const auto& pair) { return pair.first == "service"; });
    query.emplace_back("service", request.service);
  }
  for (const std::string& scope : request.scopes) {
    query.emplace_back("scope", scope);
  }
  return query.empty() ? base : fmt::format("{}?{}", base, encode_query(std::move(query)));
}

std::string refresh_form(const TokenRequest& request, const SecretText& refresh_token) {
  return encode_query({{"grant_type", "refresh_token"},
                       {"refresh_token", refresh_token.reveal()},
                       {"service", request.service},
                       {"client_id", std::string(kClientId)},
                       {"scope", fmt::format("{}", fmt::join(request.scopes, " "))}});
}

const SecretText* refresh_token_of(const FoundCredential& credential) {
  const auto* const token = std::get_if<TokenCredential>(&credential.secret);
  return token != nullptr && !token->refresh_token.empty() ? &token->refresh_token : nullptr;
}

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostScopes = 4;
// A token is replaced before it expires, because the request that uses it takes time.
constexpr std::chrono::seconds kMargin{10};

// Returns the challenge to expect for every repository of the registry: a scope belongs to one repository.
Challenge without_scope(Challenge challenge) {
  std::erase_if(challenge.parameters, [](const auto& parameter) { return parameter.first == "scope"; });
  return challenge;
}

// Whether the scope is like "repository:b:pull" and the repository is not b.
bool is_of_another_repository(std::string_view scope, std::string_view repository) {
  constexpr std::string_view kKind = "repository:";
  if (!scope.starts_with(kKind)) {
    return false;
  }
  scope.remove_prefix(kKind.size());
  return scope.substr(0, scope.rfind(':')) != repository;
}

// Sends no request to a token service on another host unless the policy allows it.
Result<void> check_realm(const std::string& realm, const Repository& repository, const Context& context) {
  const auto step = follow_redirect(repository.url("tags/list"), 307, realm, false);
  if (step && step->keeps_secrets) {
    return {};
  }
  auto allowed = check_url_allowed(realm, context);
  if (!allowed) {
    allowed.error().message = fmt::format("the registry of \"{}\" requires a token from {}: {}", repository.display,
                                          printable_url(realm), allowed.error().message);
  }
  return allowed;
}

// Whether credentials of the registry may go to the host as well: a registry and its token service share a domain
// ("registry-1.docker.io" and "auth.docker.io", "registry.gitlab.com" and "gitlab.com").
bool share_domain(std::string_view registry, std::string_view host) {
  const auto is_below = [host](std::string_view domain) {
    return host.ends_with(domain) && host.size() > domain.size() && host[host.size() - domain.size() - 1] == '.';
  };
  const std::string_view parent = registry.substr(std::min(registry.find('.'), registry.size() - 1) + 1);
  return host == registry || is_below(registry) ||
         (parent.find('.') != std::string_view::npos && (host == parent || is_below(parent)));
}

// The registry names the realm, so an impersonator could otherwise redirect a password to any host.
Result<void> check_realm_for_credentials(const std::string& realm, const Repository& repository,
                                         const std::vector<std::string>& token_realms) {
  const std::string registry = http::split_url(repository.url(""))->host;
  const auto parts = http::split_url(realm);
  const std::string host = parts ? parts->host : std::string();
  if (share_domain(registry, host) || std::ranges::find(token_realms, host) != token_realms.end()) {
    return {};
  }
  return fail(
      Code::source_denied,
      fmt::format("the registry of \"{}\" requires a token from \"{}\", and the credentials for {} are not sent to "
                  "another domain",
                  repository.display, host, registry),
      fmt::format("if that host belongs to the registry, write oci_token_realms = [\"{}\"] in your own "
                  "configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl",
                  host));
}

}  // namespace

std::string Challenge::parameter(std::string_view name) const {
  const auto at = std::find_if(parameters.rbegin(), parameters.rend(),
                               [name](const auto& parameter) { return parameter.first == name; });
  return at == parameters.rend() ? std::string() : at->second;
}

std::vector<Challenge> parse_challenges(std::string_view value) {
  using re2::RE2;
  static const RE2 kWord(R"([ \t,]*([\w!#$%&'*+.^`|~-]+)([ \t]*)(=?))", RE2::Latin1);
  static const RE2 kToken68(R"([\w.~+/-]*=*[ \t]*(?:,|$))", RE2::Latin1);
  static const RE2 kValue(R"re([ \t]*(?:([\w!#$%&'*+.^`|~-]+)|"((?s:[^"\\]|\\.)*)")[ \t]*(,?))re", RE2::Latin1);
  static const RE2 kEscaped(R"((?s)\\(.))", RE2::Latin1);
  std::vector<Challenge> challenges;
  re2::StringPiece rest(value.data(), value.size());
  std::string word;
  std::string blank;
  std::string equals;
  while (RE2::Consume(&rest, kWord, &word, &blank, &equals)) {
    if (equals.empty()) {
      challenges.push_back({ascii::lower(word)});
      static_cast<void>(!blank.empty() && RE2::Consume(&rest, kToken68));
      continue;
    }
    std::string text;
    std::string quoted;
    std::string comma;
    if (challenges.empty() || !RE2::Consume(&rest, kValue, &text, &quoted, &comma)) {
      break;
    }
    RE2::GlobalReplace(&quoted, kEscaped, R"(\1)");
    challenges.back().parameters.emplace_back(ascii::lower(word), text + quoted);
    if (comma.empty()) {
      break;
    }
  }
  return challenges;
}

std::optional<Challenge> answerable_challenge(const HttpResponse& response) {
  for (const HttpHeader& header : response.headers) {
    if (!ascii::equals_ignoring_case(header.name, "www-authenticate")) {
      continue;
    }
    for (Challenge& challenge : parse_challenges(header.value)) {
      if (challenge.scheme == "bearer" || challenge.scheme == "basic") {
        return std::move(challenge);
      }
    }
  }
  return std::nullopt;
}

Result<std::string> token_realm(const Challenge& challenge, std::string_view authority, std::string_view display) {
  const std::string realm = challenge.parameter("realm");
  const auto refused = [&](std::string_view why) {
    return fail(Code::bad_response, fmt::format("the registry of \"{}\" sent a challenge {}", display, why),
                "have the registry's token service configured with an https URL");
  };
  if (realm.empty()) {
    return refused("that names no realm to get a token from");
  }
  const auto url = GoUrl::parse(realm);
  if (!url || url->host.empty() || has_control_characters(realm)) {
    return refused("with a realm that is not a URL");
  }
  if (url->scheme != "https") {
    return refused(fmt::format("with a realm of the scheme \"{}\", but only https may receive credentials",
                               escape_controls(url->scheme)));
  }
  if (url->user) {
    return refused("with a realm that contains user-info");
  }
  const std::string host = ascii::lower(without_port(url->host));
  if (is_ip_address(host) && host != without_port(authority)) {
    return refused(
        fmt::format("with a realm on \"{}\", an address that is not the registry's own", escape_controls(host)));
  }
  return realm;
}

Result<Token> request_token(HttpClient& http, const TokenRequest& request, const FoundCredential& credential,
                            const Repository& repository, const Context& context) {
  HttpRequest ask;
  ask.purpose = fmt::format("get a token for \"{}\"", repository.display);
  ask.headers = {{"Accept", "application/json"}};
  ask.body_limit = kAnswerLimit;
  ask.timeouts.total = kSmallAnswerTime;
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
  const auto json = parse_json_body(body);
  if (!json && is_html(body)) {
    return refused("an HTML page, not JSON");
  }
  if (!json || !json->isObject()) {
    return refused("a response that is not a JSON object");
  }
  for (const char* const name : {"access_token", "token"}) {
    const Json::Value& value = (*json)[name];
    if (!value.isString() || value.asString().empty()) {
      continue;
    }
    if (!std::ranges::all_of(value.asString(), [](char c) { return c > 0x20 && c < 0x7F; })) {
      return refused("a token that is not valid in a header");
    }
    const Json::Value& seconds = (*json)["expires_in"];
    const std::chrono::seconds lifetime(seconds.isInt64() ? seconds.asInt64() : std::int64_t{0});
    return Token{SecretText(value.asString()), std::clamp(lifetime, kShortestLifetime, kLongestLifetime)};
  }
  return refused("no token");
}

// The authorization of one repository, and the state of a thread that requests one.
struct Authorizer::Entry {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool busy = false;         // a thread is requesting one
  std::uint64_t rounds = 0;  // requests that have ended
  SecretText header;         // the last; empty: none
  std::optional<Clock::time_point> expires;
  std::optional<Error> failure;     // of the last round
  std::vector<std::string> scopes;  // used only by the busy thread

  bool is_fresh() const { return !header.empty() && (!expires || Clock::now() < *expires); }
};

std::shared_ptr<Authorizer::Entry> Authorizer::entry(const Repository& repository) {
  const std::lock_guard lock(mutex_);
  auto& found = entries_[{repository.authority, repository.name}];
  if (!found) {
    found = std::make_shared<Entry>();
    found->scopes = {fmt::format("repository:{}:pull", repository.name)};
  }
  return found;
}

SecretText Authorizer::expected(const Repository& repository, const Context& context) {
  const auto known = entry(repository);
  {
    const std::lock_guard lock(known->mutex);
    if (known->is_fresh()) {
      return known->header;
    }
  }
  std::optional<Challenge> challenge;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = challenges_.find(repository.authority); at != challenges_.end()) {
      challenge = at->second;
    }
  }
  if (!challenge || context.offline) {
    return {};
  }
  // This is a guess: if it fails, the registry's own challenge is used.
  auto guessed = answer(repository, *challenge, {}, context);
  return guessed && *guessed ? std::move(**guessed) : SecretText();
}

Result<std::optional<SecretText>> Authorizer::answer(const Repository& repository, const Challenge& challenge,
                                                     const SecretText& refused, const Context& context) {
  {
    const std::lock_guard lock(mutex_);
    challenges_.insert_or_assign(repository.authority, without_scope(challenge));
  }
  const auto known = entry(repository);
  std::unique_lock lock(known->mutex);
  while (true) {
    if (known->is_fresh() && !(known->header == refused)) {
      return std::optional(known->header);
    }
    if (!known->busy) {
      break;
    }
    const std::uint64_t round = known->rounds;
    const auto ended = [&known, round] { return known->rounds != round; };
    if (context.deadline) {
      known->changed.wait_until(lock, context.stop, *context.deadline, ended);
    } else {
      known->changed.wait(lock, context.stop, ended);
    }
    MODLOCK_TRY(context.check());
    if (ended() && known->failure && known->failure->code != Code::request_cancelled &&
        known->failure->code != Code::deadline_exceeded) {  // which are of the other caller
      return fail(*known->failure);
    }
    if (ended() && known->header.empty() && !known->failure) {
      return std::optional<SecretText>();
    }
  }
  known->busy = true;
  lock.unlock();
  auto got = without_exceptions("a request", [&] { return fetch(*known, repository, challenge, context); });
  lock.lock();
  known->busy = false;
  ++known->rounds;
  known->failure = got ? std::nullopt : std::optional(got.error());
  if (!got || !*got) {
    known->header = {};
  }
  known->changed.notify_all();
  if (got && *got && **got == refused) {
    return std::optional<SecretText>();
  }
  return got;
}

Result<FoundCredential> Authorizer::credential(const Repository& repository, const Context& context) {
  if (repository.host == "docker.io") {
    return FoundCredential{};
  }
  return credentials_.find({CredentialUse::oci, repository.host, repository.name}, context);
}

// Called only by the busy thread, without the lock of the entry; sets its header and expiry.
Result<std::optional<SecretText>> Authorizer::fetch(Entry& entry, const Repository& repository,
                                                    const Challenge& challenge, const Context& context) {
  MODLOCK_TRY(const auto found, credential(repository, context));
  const auto keep = [&entry](SecretText header, std::optional<Clock::time_point> expires) {
    const std::lock_guard lock(entry.mutex);
    entry.header = std::move(header);
    entry.expires = expires;
    return std::optional(entry.header);
  };
  if (challenge.scheme == "basic") {
    const auto* const basic = std::get_if<BasicCredential>(&found.secret);
    return basic != nullptr ? keep(basic_authorization(*basic), std::nullopt) : std::optional<SecretText>();
  }
  const auto* const token = std::get_if<TokenCredential>(&found.secret);
  if (token != nullptr && !token->access_token.empty()) {
    return keep(SecretText("Bearer " + token->access_token.reveal()), std::nullopt);
  }
  MODLOCK_TRY(const auto realm, token_realm(challenge, repository.authority, repository.display));
  MODLOCK_TRY(check_realm(realm, repository, context));
  if (std::holds_alternative<BasicCredential>(found.secret) || refresh_token_of(found) != nullptr) {
    MODLOCK_TRY(check_realm_for_credentials(realm, repository, token_realms_));
  }
  // Some registries require a different scope to list tags than to pull; they name it.
  const std::string named = challenge.parameter("scope");
  for (const std::string_view scope : split(named, ' ')) {
    if (!scope.empty() && !is_of_another_repository(scope, repository.name) && entry.scopes.size() < kMostScopes &&
        std::ranges::find(entry.scopes, scope) == entry.scopes.end()) {
      entry.scopes.emplace_back(scope);
    }
  }
  const TokenRequest request{realm, challenge.parameter("service"), entry.scopes};
  MODLOCK_TRY(const auto granted, request_token(http_, request, found, repository, context));
  return keep(SecretText("Bearer " + granted.text.reveal()), Clock::now() + granted.lifetime - kMargin);
}

}  // namespace modlock::oci
