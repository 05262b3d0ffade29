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

// A rule that changes which module calls or providers a client finds, and the first version of each client that has it.
// Configurations are read by the newest rules: an older client rejects what it does not know.
struct ClientRule {
  std::string_view subject;    // for messages
  std::string_view opentofu;   // empty: no version has it
  std::string_view terraform;  // empty: no version has it

  constexpr std::string_view since(ClientKind tool) const {
    return tool == ClientKind::terraform ? terraform : opentofu;
  }
};

// `required_version` applies only in .tofu files, and `compatible_with` applies.
inline constexpr ClientRule kLanguageBlocks{"a language block", "1.12.0", ""};
inline constexpr ClientRule kComputedSource{"a computed source or version", "1.8.0", "1.15.0"};
inline constexpr ClientRule kNullVersion{"version = null", "1.10.0", "1.15.5"};
inline constexpr ClientRule kConvert{"the function convert in a source", "", "1.15.0"};
inline constexpr ClientRule kAssume{"a function assume*", "1.13.0", ""};
inline constexpr ClientRule kAction{"an action block", "", "1.14.0"};
inline constexpr ClientRule kNamespaceUnderscore{"an underscore in a provider namespace", "", "1.16.0"};

}  // namespace modlock
