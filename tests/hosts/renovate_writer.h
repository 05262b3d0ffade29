#pragma once

#include <string>
#include <vector>

namespace modlock::test {

// One provider that Renovate updates in a lock file.
struct ProviderBump {
  std::string address;  // "registry.opentofu.org/acme/cloud"
  std::string version;
  std::string constraints;
  std::vector<std::string> hashes;
};

// What Renovate makes of a lock file, by what its lock file reader and writer do: text is cut at lines that start with
// `provider "`, a block reaching to the next such line, the last one to the last line; in a block the lines of version
// and constraints get new values, and lines that look like hashes are replaced by the new ones. It knows no other
// block. Providers that are not there are left out.
std::string as_renovate_writes(const std::string& lock, std::vector<ProviderBump> bumps);

}  // namespace modlock::test
