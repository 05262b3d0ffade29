#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"
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
  std::string realm;  // judged by token_realm()
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

// "Basic …" of a user and a password.
SecretText basic_authorization(const BasicCredential& credential);

}  // namespace modlock::oci
