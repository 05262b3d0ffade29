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

// A user name and a password.
struct BasicCredential {
  SecretText user;
  SecretText password;
};

// "Basic …", as the header Authorization has it.
SecretText basic_authorization(const BasicCredential& credential);

// A token to be sent as it is.
struct TokenCredential {
  SecretText access_token;
  SecretText refresh_token = {};  // OCI: exchanged at the realm (OAuth2)
};

// What a place had for a host, and which place: `TF_TOKEN_example_com`, `credentials "example.com" in ~/.tofurc:3`,
// `credHelpers "ghcr.io" in ~/.docker/config.json`. Never a value.
struct FoundCredential {
  std::variant<std::monostate, BasicCredential, TokenCredential> secret = {};  // monostate: none anywhere
  std::string from = {};

  bool found() const { return secret.index() != 0; }
};

// A place where a credential may come from, and what was there, for AUTH_REQUIRED and `explain --credentials`.
struct CredentialLocation {
  std::string place;    // "environment variable TF_TOKEN_example_com", "file ~/.netrc"
  std::string outcome;  // "used", "not set", "no entry for example.com", "hidden by …": never a value
};

// What was found for one host, where it was looked for, and why that failed. Whoever fills it adds the places in the
// order of precedence.
struct CredentialLookup {
  FoundCredential found;
  std::vector<CredentialLocation> places;
  std::optional<Error> failure;

  void add(std::string place, std::string outcome) { places.push_back({std::move(place), std::move(outcome)}); }
};

// What credentials are for: each kind has its own places and its own precedence.
enum class CredentialUse {
  registry,  // a module or provider registry: TF_TOKEN_*, `credentials` blocks, `credentials_helper`
  oci,       // an OCI registry: `oci_credentials`, docker and podman files, credential helpers
  download   // an archive over http(s): netrc
};

// Secrets by host. Thread-safe. What is renewed while the process lives is seen: each call reads a docker, podman or
// netrc file again that is no longer what was read, and a helper is asked again for a host a minute after it answered,
// or at once after it failed; who asks meanwhile shares its answer. Variables and the CLI configuration stay as they
// were given. `host` is Source::host (`name[:port]`), `repository` the path of an OCI repository without a leading
// slash (else empty).
class Credentials {
 public:
  virtual ~Credentials() = default;

  // The most specific credential by OpenTofu's own precedence; none is no error, and neither is a registry's helper
  // that fails or is missing: as in OpenTofu the request goes without (a warning in the log). Errors: CONFIG_PARSE (a
  // file that cannot be read as what it is, naming file and line; a token that fits no header), TOOL_MISSING and
  // UNREACHABLE (an OCI helper that is missing or fails; OpenTofu asks it only when a registry wants credentials),
  // REQUEST_CANCELLED, DEADLINE_EXCEEDED.
  virtual Result<FoundCredential> find(CredentialUse use, std::string_view host, std::string_view repository,
                                       const Context& context) = 0;

  // Every place of that use in the order of precedence; what is wrong with one is its outcome. One at most is "used".
  // Errors: REQUEST_CANCELLED, DEADLINE_EXCEEDED.
  virtual Result<std::vector<CredentialLocation>> places(CredentialUse use, std::string_view host,
                                                         std::string_view repository, const Context& context) = 0;
};

// AUTH_REQUIRED or FORBIDDEN as the protocol words it: the host, the places looked in, and the exact fix.
// `error` is the one that the refusal gave (its code, message and notes stay).
Error explain_refusal(Error error, CredentialUse use, std::string_view host, std::string_view repository,
                      Credentials& credentials, const Context& context);

// The credentials that the client would use: from what its configuration says and from the environment, by OpenTofu's
// own rules (internal/command/cliconfig, its ociauthconfig, go-getter's netrc). Nothing is read or run before it is
// asked for. Programs are run only where the user's own files name them, without TF_TOKEN_* in their environment.
std::unique_ptr<Credentials> make_credentials(ClientConfiguration configuration, ProcessEnvironment environment);

}  // namespace modlock
