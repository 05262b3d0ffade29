#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/git/git_command.h"
#include "backends/git/remote_address.h"
#include "protocol/base/result.h"

namespace modlock::git {

// How our own HTTP client is to ask what git would ask.
struct HttpPlan {
  RemoteAddress remote;  // as url.<base>.insteadOf has it, which leaves one with a query; `display` as it was
  std::vector<std::pair<std::string, SecretText>> secret_headers;  // http.extraHeader
  std::string user_agent;
};

// What git's configuration and variables mean for listing this address over http(s). The error is the reason why only
// git itself can do as they say ("http.sslCert is set"); it never holds a value.
tl::expected<HttpPlan, std::string> plan_http(const RemoteAddress& remote, const EnvironmentLookup& environment);

}  // namespace modlock::git
