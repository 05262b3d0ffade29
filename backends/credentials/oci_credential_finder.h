#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/source.h"
#include "backends/base/environment.h"
#include "backends/base/single_flight_map.h"
#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credential_program.h"
#include "backends/credentials/credentials.h"
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

// Finds the credentials of an OCI repository in `oci_credentials` blocks, the helper of `oci_default_credentials`, and
// docker and podman files. The most specific match is used, the first one of equal matches. If it is a program, only
// that program is run. Thread-safe.
class OciCredentialFinder {
 public:
  OciCredentialFinder(const ClientConfiguration& configuration, const ProcessEnvironment& environment);

  // `failure`: CONFIG_PARSE if a file in `docker_style_config_files` cannot be read, or if a matching entry has no user
  // and password; errors of ask_docker_helper(). A broken file in a default location is not a failure: as in OpenTofu,
  // none of the default files is used then.
  CredentialLookup look(std::string_view host, std::string_view repository, const Context& context);

 private:
  struct Candidate;
  struct File {
    std::string name;            // for people
    Result<DockerFile> content;  // NOT_FOUND: there is no file; other errors: it is broken
  };
  struct Files {
    std::vector<File> files;
    std::optional<Error> failure;
    std::string off;  // why no file is used
  };

  Files read_files() const;
  File read_file_at(const std::filesystem::path& path) const;
  std::vector<Candidate> candidates(const Files& read, std::string_view host, std::string_view repository) const;
  void add_blocks(std::string_view host, std::string_view repository, std::vector<Candidate>& all) const;
  static void add_file(const File& file, std::string_view host, std::string_view repository,
                       std::vector<Candidate>& all);
  void take(const Candidate& chosen, std::string_view host, CredentialLookup& lookup, const Context& context);

  const ClientConfiguration& configuration_;
  const ProcessEnvironment& environment_;
  SingleFlightMap<std::string, FoundCredential> helper_answers_{kHelperAnswerLife};
};

}  // namespace modlock
