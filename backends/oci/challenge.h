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
  std::vector<std::pair<std::string, std::string>> parameters = {};  // names in lower case; a token68 is left out

  // The last parameter of that name, or empty.
  std::string parameter(std::string_view name) const;
};

// The challenges of one header value, in order. Where it stops being one, what was read before counts: a server that
// writes nonsense behind a good challenge is still understood. Linear time.
std::vector<Challenge> parse_challenges(std::string_view value);

// The first challenge of a response that can be answered: `bearer` or `basic`. nullopt where there is none.
std::optional<Challenge> answerable_challenge(const HttpResponse& response);

// The URL to ask for a token. The registry names it, and credentials go there, so it must be https (the registry is),
// without user-info, and not an IP address other than the registry's own: a name may lead anywhere in public, an
// address to what only this machine reaches. Errors, of `display`: BAD_RESPONSE.
Result<std::string> token_realm(const Challenge& challenge, std::string_view authority, std::string_view display);

}  // namespace modlock::oci
