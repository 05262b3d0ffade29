#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/git/git_command.h"
#include "backends/git/git_configuration.h"
#include "backends/git/remote_address.h"
#include "protocol/base/result.h"

namespace modlock::git {

// How tofu-modlock's HTTP client must send the requests that git would send.
struct HttpPlan {
  RemoteAddress remote;  // after url.<base>.insteadOf (not applied if there is a query); `display` is unchanged
  std::vector<std::pair<std::string, SecretText>> secret_headers;  // http.extraHeader
  std::string user_agent;
};

// Applies git's configuration and variables to listing this address over http(s). The error is the reason why only git
// itself can follow them ("http.sslCert is set"); it never contains a value.
tl::expected<HttpPlan, std::string> plan_http(const RemoteAddress& remote, const EnvironmentLookup& environment,
                                              const Result<GitConfiguration>& configuration);

}  // namespace modlock::git
