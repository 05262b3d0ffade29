#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/credentials/credentials.h"
#include "protocol/base/result.h"

namespace modlock {

// The locations where a client looks for a credential, in order of precedence.
struct CredentialSearch {
  std::string use;                  // "registry", "oci", "download" or "git"
  std::optional<std::string> used;  // the location whose credential is used; nullopt: none, or (git) not known
  std::vector<CredentialLocation> places;
};

struct CredentialReport {
  std::string host;
  std::string repository;  // empty: none was specified
  std::vector<std::string> warnings;
  std::vector<CredentialSearch> uses;
};

// Reports where the credentials for `where`, HOST or HOST/REPOSITORY, come from. Runs the credential programs, as a
// request would. The report never contains a secret. Errors: INVALID_PARAMS (no host, or a URL; the message does not
// quote the text), REQUEST_CANCELLED.
Result<CredentialReport> explain_credentials(std::string_view where, const ClientConfiguration& configuration,
                                             const ProcessEnvironment& environment, const Context& context);

}  // namespace modlock
