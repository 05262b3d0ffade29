#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "backends/base/single_flight_map.h"
#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credential_program.h"
#include "backends/credentials/credentials.h"
#include "backends/credentials/process_environment.h"

namespace modlock {

// A variable TF_TOKEN_<host> as it is set.
struct TokenVariable {
  std::string name;
  SecretText token;
};

// TF_TOKEN_* by host in ASCII: "__" stands for "-", then "_" for "."; hosts in Unicode or punycode. What names no host
// is left out.
std::map<std::string, TokenVariable> token_variables(const ProcessEnvironment& environment);

// The name that `explain_refusal` tells to set: letters, digits and underscores only. Empty where the host has a port,
// which no such name can say.
std::string token_variable_name(std::string_view ascii_host);

// Where a registry's token may be: TF_TOKEN_*, a `credentials` block, the `credentials_helper`. The first that knows
// the host decides, even with an empty token. A helper that fails gives none, as in OpenTofu. Thread-safe.
class RegistryCredentialFinder {
 public:
  RegistryCredentialFinder(const ClientConfiguration& configuration, const ProcessEnvironment& environment);

  // `host` as Source::host. `failure` is REQUEST_CANCELLED or DEADLINE_EXCEEDED. A helper that fails for a host is a
  // warning in the log, once until it fails in another way or answers again.
  CredentialLookup look(std::string_view host, const Context& context);

 private:
  void ask_helper(const std::string& host, CredentialLookup& lookup, const Context& context);
  bool is_new_trouble(const std::string& host, const std::string& message);

  const ClientConfiguration& configuration_;
  const ProcessEnvironment& environment_;
  const std::map<std::string, TokenVariable> variables_;
  SingleFlightMap<std::string, FoundCredential> helper_answers_{kHelperAnswerLife};
  std::mutex mutex_;
  std::map<std::string, std::string> troubles_;  // the last message by host; empty: the helper answered
};

}  // namespace modlock
