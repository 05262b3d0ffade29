#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/credentials/make_credentials.h"
#include "plugin/cli/command_line.h"
#include "plugin/engine/engine.h"
#include "protocol/base/result.h"

namespace modlock::cli {

// The places where a client looks for a credential, in the order of precedence.
struct CredentialSearch {
  std::string use;                  // "registry", "oci", "download" or "git"
  std::optional<std::string> used;  // the place whose credential is used; nullopt: none, or (git) not known
  std::vector<CredentialLocation> places;
};

struct CredentialReport {
  std::string host;
  std::string repository;  // empty: none was named
  std::vector<std::string> warnings;
  std::vector<CredentialSearch> uses;
};

// What `explain --credentials HOST[/REPOSITORY]` shows. Programs that the places name are run, as for a request. The
// report never has a secret. Errors: INVALID_PARAMS (no host, a URL; the text itself is not in the message),
// REQUEST_CANCELLED.
Result<CredentialReport> explain_credentials(std::string_view where, const ClientConfiguration& configuration,
                                             const ProcessEnvironment& environment, const Context& context);

// The command: for the client that the options, the environment or PATH name.
int run_explain_credentials(const std::string& where, const CommonFlags& flags, const EngineOptions& options,
                            std::stop_token stop);

}  // namespace modlock::cli
