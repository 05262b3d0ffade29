#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/source.h"
#include "protocol/base/result.h"

namespace modlock {

// What a docker or podman credentials file says (containers-auth.json), as OpenTofu reads it; identity tokens and
// everything else in it do not count.
struct DockerFile {
  struct Auth {
    std::string where;   // "ghcr.io" or "ghcr.io/team"
    SecretText decoded;  // "user:password" as it should be; never empty
  };
  std::vector<Auth> auths;
  std::map<std::string, std::string> helpers;  // `credHelpers`: host -> program name behind "docker-credential-"
  std::string store;                           // `credsStore`: the same for every host
};

// Errors: CONFIG_PARSE naming the file and what is wrong (no JSON, a value of another type, bad base64), never a value.
Result<DockerFile> parse_docker_file(std::string_view text, std::string_view name);

// How specifically the key of an entry ("host", "host/path") names a repository: 0 not at all, kDomainSpecificity the
// whole host, one more for each segment of the path. OpenTofu's ContainersAuthPropertyNameMatch.
inline constexpr std::size_t kGlobalSpecificity = 1;
inline constexpr std::size_t kDomainSpecificity = 2;
std::size_t specificity(std::string_view key, std::string_view host, std::string_view repository);

// Whether a program may bear this name: no path, not empty.
bool is_helper_name(std::string_view name);

}  // namespace modlock
