#pragma once

#include <optional>
#include <string_view>

#include "backends/base/context.h"
#include "backends/git/remote_address.h"
#include "protocol/base/result.h"

namespace modlock::git {

// A user name and a password out of git's credential helpers.
struct StoredCredential {
  SecretText username;
  SecretText password;
};

// What `git credential fill` has for the address; nobody is asked. nullopt: no helper has anything, or there is no git.
// Errors: REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<std::optional<StoredCredential>> fill_credential(const RemoteAddress& remote, const Context& context);

// Tells the helpers whether the server took it: `verdict` is "approve" or "reject".
void report_credential(const RemoteAddress& remote, const StoredCredential& credential, std::string_view verdict,
                       const Context& context);

}  // namespace modlock::git
