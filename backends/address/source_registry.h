#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace modlock {

// [host/]namespace/name/system[//subdir]
struct RegistryAddress {
  std::string host;    // Unicode display form, with ":port" unless 443; the default registry where none was given
  std::string module;  // "namespace/name/system"
  std::string subdir;  // cleaned; empty: the root

  std::string to_string() const;
};

// nullopt for whatever is not a module registry address: OpenTofu then reads the text as a remote one. `default_host`
// is that of addresses without one.
std::optional<RegistryAddress> parse_registry_address(std::string_view text, std::string_view default_host);

}  // namespace modlock
