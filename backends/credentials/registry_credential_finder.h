#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "backends/base/environment.h"
#include "backends/base/single_flight_map.h"
#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credential_program.h"
#include "backends/credentials/credentials.h"

namespace modlock {

// A variable TF_TOKEN_<host> and its value.
struct TokenVariable {
  std::string name;
  SecretText token;
};

// Returns TF_TOKEN_* by host in ASCII: "__" stands for "-", then "_" for "."; hosts are in Unicode or punycode. Skips
// variables that do not name a host.
std::map<std::string, TokenVariable> token_variables(const ProcessEnvironment& environment);

// Returns the variable name that `explain_refusal` recommends: only letters, digits and underscores. Empty if the host
// has a port, which a variable name cannot express.
std::string token_variable_name(std::string_view ascii_host);

// Finds the token of a registry in TF_TOKEN_*, a `credentials` block, or with the `credentials_helper`. The first that
// knows the host decides, even with an empty token. As in OpenTofu, a helper that fails provides no token. Thread-safe.
class RegistryCredentialFinder {
 public:
  RegistryCredentialFinder(const ClientConfiguration& configuration, const ProcessEnvironment& environment);

  // `host` as Source::host. `failure` is REQUEST_CANCELLED or DEADLINE_EXCEEDED. If a helper fails for a host, the log
  // has one warning until it fails with another message or succeeds again.
  CredentialLookup look(std::string_view host, const Context& context);

 private:
  void ask_helper(const std::string& host, CredentialLookup& lookup, const Context& context);
  bool is_new_trouble(const std::string& host, const std::string& message);

  const ClientConfiguration& configuration_;
  const ProcessEnvironment& environment_;
  const std::map<std::string, TokenVariable> variables_;
  SingleFlightMap<std::string, FoundCredential> helper_answers_{kHelperAnswerLife};
  std::mutex mutex_;
  std::map<std::string, std::string> troubles_;  // the last message by host; empty: the helper succeeded
};

}  // namespace modlock
