#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"
#include "backends/oci/reference.h"
#include "protocol/base/result.h"

namespace modlock::oci {

// One challenge of a WWW-Authenticate header (RFC 9110 section 11.6.1).
struct Challenge {
  std::string scheme;                                                // lower case
  std::vector<std::pair<std::string, std::string>> parameters = {};  // names in lower case; without a token68

  // Returns the last parameter of that name, or empty.
  std::string parameter(std::string_view name) const;
};

// Returns the challenges of one header value, in order. If the value becomes malformed, the challenges before that
// point are returned, so that trailing garbage does not hide a valid one. Linear time.
std::vector<Challenge> parse_challenges(std::string_view value);

// Returns the first challenge of a response that is supported: `bearer` or `basic`. nullopt if there is none.
std::optional<Challenge> answerable_challenge(const HttpResponse& response);

// Returns the URL of the token service. The registry names it and it receives credentials, so it must be https (as the
// registry is), without user-info, and not an IP address other than the registry's own: an address could be one that
// only this machine reaches. Errors, of `display`: BAD_RESPONSE.
Result<std::string> token_realm(const Challenge& challenge, std::string_view authority, std::string_view display);

// A token and how long it may be used.
struct Token {
  SecretText text;
  std::chrono::seconds lifetime;
};

struct TokenRequest {
  std::string realm;  // checked by token_realm()
  std::string service;
  std::vector<std::string> scopes;
};

// Gets a token from a registry's token service (the distribution project's token authentication). Without credentials
// it gets an anonymous token; with user and password it uses GET and Basic authorization; with a refresh token it uses
// POST (OAuth2), which follows no redirect because its body is the secret. Errors: those of expect_success();
// BAD_RESPONSE (not JSON, no token in it).
Result<Token> request_token(HttpClient& http, const TokenRequest& request, const FoundCredential& credential,
                            const Repository& repository, const Context& context);

// Returns the token in the response of a token service. A lifetime that is missing or below a minute is a minute, as
// the specification requires. Errors, of `display`: BAD_RESPONSE.
Result<Token> parse_token(std::string_view body, std::string_view display);

// Provides the Authorization for requests to a registry, according to its challenges (as oras-go answers them): for
// Basic the configured user and password; for Bearer the configured access token, else a token of its token service. A
// result is kept per registry and repository until it expires; concurrent callers share one request. Once a registry
// has sent a challenge, first requests to its other repositories have a token too, but never for a scope that names
// another repository. Thread-safe.
class Authorizer {
 public:
  // `token_realms`: hosts of token services that may get the credentials of every registry.
  Authorizer(HttpClient& http, Credentials& credentials, std::vector<std::string> token_realms = {})
      : http_(http), credentials_(credentials), token_realms_(std::move(token_realms)) {}

  // Returns the authorization for a first attempt; empty if none is known or if none could be obtained.
  SecretText expected(const Repository& repository, const Context& context);

  // Returns the authorization for a second attempt, after `refused` (empty: none was sent) got a 401 with this
  // challenge. nullopt: there is no other authorization, and the 401 stays the result. Errors: those of
  // Credentials::find() and request_token(); BAD_RESPONSE for a realm that token_realm() rejects; SOURCE_DENIED for a
  // realm on another host that the policy denies or that must not receive the credentials. Credentials may go to the
  // registry's host and hosts below it; to its parent domain and hosts below that, if the parent domain has at least
  // two labels; and to the token realms.
  Result<std::optional<SecretText>> answer(const Repository& repository, const Challenge& challenge,
                                           const SecretText& refused, const Context& context);

  // Returns the credentials that are configured for a repository: none for a host that receives no requests itself
  // ("docker.io"), because OpenTofu compares the two.
  Result<FoundCredential> credential(const Repository& repository, const Context& context);

 private:
  struct Entry;
  std::shared_ptr<Entry> entry(const Repository& repository);
  Result<std::optional<SecretText>> fetch(Entry& entry, const Repository& repository, const Challenge& challenge,
                                          const Context& context);

  HttpClient& http_;
  Credentials& credentials_;
  const std::vector<std::string> token_realms_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Entry>> entries_;
  std::map<std::string, Challenge> challenges_;  // the last one of each registry, without scope
};

}  // namespace modlock::oci
