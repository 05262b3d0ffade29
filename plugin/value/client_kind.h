#pragma once

#include <string_view>

#include "backends/address/source.h"

namespace modlock {

// The client a configuration is read for.
enum class ClientKind { opentofu, terraform };

// "opentofu", "terraform": the name in the protocol and the settings.
constexpr std::string_view to_string(ClientKind tool) {
  return tool == ClientKind::terraform ? "terraform" : "opentofu";
}

// "OpenTofu", "Terraform": for messages.
constexpr std::string_view display_name(ClientKind tool) {
  return tool == ClientKind::terraform ? "Terraform" : "OpenTofu";
}

// The registry of provider and module addresses without a host.
constexpr std::string_view default_registry(ClientKind tool) {
  return tool == ClientKind::terraform ? kTerraformRegistry : kOpenTofuRegistry;
}

}  // namespace modlock
