#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/http/http_client.h"
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

}  // namespace modlock::oci
