#pragma once

#include <string_view>

#include "backends/git/references.h"
#include "protocol/result.h"

namespace modlock::git {

// What a server answers to GET <url>/info/refs?service=git-upload-pack in protocol v0 or v1 (gitprotocol-http).
struct Advertisement {
  std::string_view capabilities;  // into the body; "" where the server names none
  References references;          // in its order
};

// Whether a list of capabilities names one, with or without a value: "shallow", "agent".
bool offers(std::string_view capabilities, std::string_view capability);

// An empty repository has an advertisement of its own, which ends with a flush as every other: a body without it is
// broken off. Errors: BAD_RESPONSE saying what was expected where.
Result<Advertisement> parse_advertisement(std::string_view body);

}  // namespace modlock::git
