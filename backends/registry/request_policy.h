#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "backends/credentials/client_configuration.h"

namespace modlock::registry {

// How long a registry is waited for, and how often it is asked again.
struct RequestPolicy {
  int retries = 1;  // of everything but service discovery, which is asked once
  std::optional<std::chrono::milliseconds> timeout = std::chrono::seconds(10);  // of one attempt; nullopt: none
};

// The policy of OpenTofu (internal/command/cliconfig/registry_protocols.go): the values of the environment variables
// TF_REGISTRY_DISCOVERY_RETRY and TF_REGISTRY_CLIENT_TIMEOUT (seconds) where they are numbers above zero, then
// `registry_protocols`, then the defaults. A timeout that is not above zero in `registry_protocols` means none.
RequestPolicy request_policy(const ClientConfiguration& client, std::string_view retry_variable,
                             std::string_view timeout_variable);

}  // namespace modlock::registry
