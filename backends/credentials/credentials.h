#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backends/address/source.h"
#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

struct ClientConfiguration;
struct ProcessEnvironment;

struct BasicCredential {
  SecretText user;
  SecretText password;
};

// Returns "Basic …", the value of the header Authorization.
SecretText basic_authorization(const BasicCredential& credential);

// A token that is sent unchanged.
struct TokenCredential {
  SecretText access_token;
  SecretText refresh_token = {};  // OCI: exchanged at the realm (OAuth2)
};

// A key of AWS, which signs requests and is not sent. The session token is.
struct AwsCredential {
  SecretText key_id;
  SecretText secret_key;
  SecretText session_token = {};  // empty: none
};

// The credential for a host and its location: `TF_TOKEN_example_com`, `credentials "example.com" in ~/.tofurc:3`,
// `credHelpers "ghcr.io" in ~/.docker/config.json`. The location never contains a secret.
struct FoundCredential {
  std::variant<std::monostate, BasicCredential, TokenCredential, AwsCredential> secret = {};  // monostate: not found
  std::string from = {};

  bool found() const { return secret.index() != 0; }
};

// A location that may have a credential, and the result of the search there, for AUTH_REQUIRED and `explain
// --credentials`.
struct CredentialLocation {
  std::string place;    // "environment variable TF_TOKEN_example_com", "file ~/.netrc"
  std::string outcome;  // "used", "not set", "no entry for example.com", "hidden by …": never a secret
};

// The credential that was found for one host, the searched locations in order of precedence, and the error, if any.
struct CredentialLookup {
  FoundCredential found;
  std::vector<CredentialLocation> places;
  std::optional<Error> failure;

  void add(std::string place, std::string outcome) { places.push_back({std::move(place), std::move(outcome)}); }
};

// The purpose of credentials. Each has its own locations and its own precedence.
enum class CredentialUse {
  registry,  // a module or provider registry: TF_TOKEN_*, `credentials` blocks, `credentials_helper`
  oci,       // an OCI registry: `oci_credentials`, docker and podman files, credential helpers
  download,  // an archive over http(s): netrc
  s3,        // an object of S3: AWS_*, static keys of a profile, the AWS CLI
  gcs        // an object of Google Cloud Storage: GOOGLE_OAUTH_ACCESS_TOKEN, gcloud
};

// What a request needs credentials for.
struct CredentialQuery {
  CredentialUse use = CredentialUse::download;
  std::string host = {};        // Source::host (`name[:port]`); of S3 and Google the name of the service, for people
  std::string repository = {};  // the path of an OCI repository without a leading slash; the profile of an S3 address
  bool is_users = false;        // SourceAddress::is_users: else `aws` and `gcloud` are not run
};

// Finds secrets by host. Thread-safe. Sees credentials that are renewed during the life of the process: each call reads
// the files of docker, podman, netrc and AWS. A helper runs again for a host one minute after its last
// success, or immediately after a failure; concurrent calls share one run. `aws` and `gcloud` run again ten seconds
// after a failure. Variables and the CLI configuration do not change.
class Credentials {
 public:
  virtual ~Credentials() = default;

  // Returns the most specific credential by OpenTofu's precedence, empty if there is none. A registry helper that is
  // missing or fails is not an error: as in OpenTofu, the request is sent without a token (a warning in the log).
  // Errors: CONFIG_PARSE (a malformed file, with file and line; a token that cannot be a header value), TOOL_MISSING
  // and UNREACHABLE (an OCI helper, `aws` or `gcloud` is missing or fails; OpenTofu runs an OCI helper only when a
  // registry requires credentials), REQUEST_CANCELLED, DEADLINE_EXCEEDED.
  virtual Result<FoundCredential> find(const CredentialQuery& query, const Context& context) = 0;

  // Returns every location for this use in order of precedence. A problem with a location is its outcome. At most one
  // is "used". Errors: REQUEST_CANCELLED, DEADLINE_EXCEEDED.
  virtual Result<std::vector<CredentialLocation>> places(const CredentialQuery& query, const Context& context) = 0;
};

// Adds the host, the searched locations and the exact fix to AUTH_REQUIRED or FORBIDDEN, the refusal of a server.
// Returns other errors unchanged.
Error explain_refusal(Error error, const CredentialQuery& query, Credentials& credentials, const Context& context);

// The credentials that the client would use, from its configuration and the environment, by OpenTofu's rules
// (internal/command/cliconfig, its ociauthconfig, go-getter's netrc). Reads files and runs programs only on demand.
// Runs only programs that the user's own files name, without TF_TOKEN_* in their environment. For S3 and Google, the
// environment and then static keys of a profile have priority over the program.
std::unique_ptr<Credentials> make_credentials(ClientConfiguration configuration, ProcessEnvironment environment);

}  // namespace modlock
