#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/source.h"
#include "protocol/base/result.h"

namespace modlock {

// The content of a docker or podman credentials file (containers-auth.json) as OpenTofu reads it. Identity tokens and
// all other members are ignored.
struct DockerFile {
  struct Auth {
    std::string where;   // "ghcr.io" or "ghcr.io/team"
    SecretText decoded;  // "user:password" if well-formed; never empty
  };
  std::vector<Auth> auths;
  std::map<std::string, std::string> helpers;  // `credHelpers`: host -> program name after "docker-credential-"
  std::string store;                           // `credsStore`: used for every host
};

// Errors: CONFIG_PARSE with the file and the problem (invalid JSON, wrong type, bad base64), never with a value.
Result<DockerFile> parse_docker_file(std::string_view text, std::string_view name);

// How specifically the key of an entry ("host", "host/path") matches a repository: 0 for no match, kDomainSpecificity
// for the whole host, plus 1 for each path segment (OpenTofu's ContainersAuthPropertyNameMatch).
inline constexpr std::size_t kGlobalSpecificity = 1;
inline constexpr std::size_t kDomainSpecificity = 2;
std::size_t specificity(std::string_view key, std::string_view host, std::string_view repository);

// Whether the text can be the name of a helper program: not empty and not a path.
bool is_helper_name(std::string_view name);

}  // namespace modlock
