#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/address/source.h"
#include "protocol/base/error.h"

namespace modlock {

// The network settings and secrets in the CLI configuration of a client (`.tofurc`, `.terraformrc`, TF_CLI_CONFIG_FILE,
// the files of its configuration directory). All other settings are ignored. Hosts are in ASCII with `:port`, as
// HostForms::ascii.
struct ClientConfiguration {
  struct Token {
    SecretText token;  // empty: the block has no token, and still no other location is searched
    std::string from;  // "~/.tofurc:3"
  };
  struct Helper {
    std::string name;  // the program is terraform-credentials-<name>
    std::vector<std::string> arguments;
    std::vector<std::string> directories;  // where to search for the program, in order
    std::string from;
  };
  struct Host {
    std::map<std::string, std::string> services;  // "modules.v1" -> URL
    std::string from;
  };
  struct OciCredentials {
    std::string host;             // label up to the first slash, "example.com:5000"
    std::string repository = {};  // the rest, whole segments; empty: the host's
    SecretText user = {}, password = {};
    SecretText access_token = {}, refresh_token = {};
    std::string helper = {};  // docker_credentials_helper
    std::string from = {};

    std::string label() const { return repository.empty() ? host : host + "/" + repository; }
  };
  struct OciDefaults {
    bool discover_ambient = true;
    std::optional<std::vector<std::string>> files = {};  // absolute; absent: the usual places
    std::string helper = {};
    std::string from = {};
  };

  std::map<std::string, Token> tokens = {};
  std::optional<Helper> helper = {};
  std::map<std::string, Host> hosts = {};
  std::vector<OciCredentials> oci = {};
  std::optional<OciDefaults> oci_defaults = {};
  // From `registry_protocols`, not from the environment.
  std::optional<int> retry_count = {};
  std::optional<std::chrono::seconds> request_timeout = {};

  std::optional<ProviderInstallation> provider_installation = {};  // absent: implied directories, then registries
  std::string plugin_cache_directory = {};                         // absolute; empty: none

  std::vector<std::string> credential_programs = {};  // not of the client: Settings::credential_programs

  std::vector<std::string> files = {};  // files that were read, in order
  Diagnostics warnings = {};            // problems that do not stop a client, nor tofu-modlock
};

}  // namespace modlock
