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
#include "backends/oci/challenge.h"
#include "backends/oci/reference.h"
#include "protocol/base/result.h"

namespace modlock::oci {

// A token and how long it may be used.
struct Token {
  SecretText text;
  std::chrono::seconds lifetime;
};

// What a token is asked for.
struct TokenRequest {
  std::string realm;  // checked by token_realm()
  std::string service;
  std::vector<std::string> scopes;
};

// Gets a token from a registry's token service (the distribution project's token authentication): without credentials
// an anonymous one, with user and password by GET and Basic authorization, with a refresh token by POST (OAuth2),
// which follows no redirect because its body is the secret. Errors: those of expect_success(); BAD_RESPONSE (no JSON,
// no token in it).
Result<Token> request_token(HttpClient& http, const TokenRequest& request, const FoundCredential& credential,
                            const Repository& repository, const Context& context);

// The token in the answer of a token service; a lifetime below a minute or none is a minute, as its specification says.
// Errors, of `display`: BAD_RESPONSE.
Result<Token> parse_token(std::string_view body, std::string_view display);

// What to send a registry as Authorization, by the challenges it has sent (as oras-go answers them): for Basic the
// configured user and password, for Bearer the configured access token, else a token of its token service. Kept per
// registry and repository until it expires; callers that need one at the same time share one request. A registry that
// has sent a challenge once is expected to send it for its other repositories too, so these are asked with a token
// right away; but never for a scope that names another repository. Thread-safe.
class Authorizer {
 public:
  // `token_realms`: hosts of token services that may get the credentials of every registry.
  Authorizer(HttpClient& http, Credentials& credentials, std::vector<std::string> token_realms = {})
      : http_(http), credentials_(credentials), token_realms_(std::move(token_realms)) {}

  // For a first attempt; empty where nothing is known, or where nothing could be got.
  SecretText expected(const Repository& repository, const Context& context);

  // For a second attempt, after `refused` (empty: nothing was sent) was answered by 401 with this challenge. nullopt:
  // there is nothing else to send, the 401 stands. Errors: those of Credentials::find() and request_token(), and
  // BAD_RESPONSE for a realm that token_realm() refuses; SOURCE_DENIED for one of another host that the policy denies,
  // or that the credentials there are may not go to: its host has to be that of the registry, its parent domain or
  // below that, if the parent domain has two labels, or one of the token realms.
  Result<std::optional<SecretText>> answer(const Repository& repository, const Challenge& challenge,
                                           const SecretText& refused, const Context& context);

  // What a repository's credentials are configured for: none for a host that requests do not go to ("docker.io"),
  // because OpenTofu compares the two.
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
  std::map<std::string, Challenge> challenges_;  // the last of each registry, without scope
};

}  // namespace modlock::oci
