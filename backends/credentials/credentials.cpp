#include "backends/credentials/credentials.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/hostname.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "backends/base/environment.h"
#include "backends/credentials/client_configuration.h"
#include "backends/credentials/netrc_credential_finder.h"
#include "backends/credentials/oci_credential_finder.h"
#include "backends/credentials/registry_credential_finder.h"

namespace modlock {
namespace {

bool ends_the_run(const std::optional<Error>& failure) {
  return failure && (failure->code == Code::request_cancelled || failure->code == Code::deadline_exceeded);
}

// A token with a line ending could add headers.
bool fits_a_header(std::string_view token) {
  return std::ranges::all_of(token, [](char c) { return c == '\t' || !ascii::is_control(c); });
}

class ClientCredentials final : public Credentials {
 public:
  ClientCredentials(ClientConfiguration configuration, ProcessEnvironment environment)
      : configuration_(std::move(configuration)),
        environment_(std::move(environment)),
        registry_(configuration_, environment_),
        oci_(configuration_, environment_),
        netrc_(environment_) {}

  Result<FoundCredential> find(CredentialUse use, std::string_view host, std::string_view repository,
                               const Context& context) override {
    CredentialLookup lookup = look(use, host, repository, context);
    if (lookup.failure) {
      return fail(std::move(*lookup.failure));
    }
    return std::move(lookup.found);
  }

  Result<std::vector<CredentialLocation>> places(CredentialUse use, std::string_view host, std::string_view repository,
                                                 const Context& context) override {
    CredentialLookup lookup = look(use, host, repository, context);
    if (ends_the_run(lookup.failure)) {
      return fail(std::move(*lookup.failure));
    }
    return std::move(lookup.places);
  }

 private:
  CredentialLookup look(CredentialUse use, std::string_view host, std::string_view repository, const Context& context) {
    CredentialLookup lookup = look_in_places(use, host, repository, context);
    const auto* token = std::get_if<TokenCredential>(&lookup.found.secret);
    if (token != nullptr && !fits_a_header(token->access_token.reveal())) {
      lookup.failure =
          Error{.code = Code::config_parse,
                .message = fmt::format("the token of {} contains a line ending or another control character",
                                       lookup.found.from),
                .hint = "remove it from the token"};
      for (CredentialLocation& place : lookup.places) {
        place.outcome = place.outcome == "used" ? "not usable: " + lookup.failure->message : place.outcome;
      }
    }
    return lookup;
  }

  CredentialLookup look_in_places(CredentialUse use, std::string_view host, std::string_view repository,
                                  const Context& context) {
    switch (use) {
      case CredentialUse::registry:
        return registry_.look(host, context);
      case CredentialUse::oci:
        return oci_.look(host, repository, context);
      case CredentialUse::download:
        break;
    }
    return netrc_.look(host);
  }

  const ClientConfiguration configuration_;
  const ProcessEnvironment environment_;
  RegistryCredentialFinder registry_;
  OciCredentialFinder oci_;
  NetrcCredentialFinder netrc_;
};

std::string registry_fix(std::string_view host) {
  const auto forms = parse_service_host(host);
  const std::string variable = forms ? token_variable_name(forms->ascii) : std::string();
  const std::string block =
      fmt::format("write credentials \"{}\" {{ token = \"…\" }} into the client's CLI configuration", host);
  return variable.empty() ? block : fmt::format("set {} to a token, or {}", variable, block);
}

std::string fix(CredentialUse use, std::string_view host) {
  switch (use) {
    case CredentialUse::registry:
      return registry_fix(host);
    case CredentialUse::oci:
      return fmt::format(
          "run \"docker login {0}\", or write oci_credentials \"{0}\" {{ username = \"…\", password = \"…\" }} into "
          "the client's CLI configuration",
          host);
    case CredentialUse::download:
      break;
  }
  return fmt::format("add the line \"machine {} login … password …\" to ~/.netrc", host);
}

}  // namespace

SecretText basic_authorization(const BasicCredential& credential) {
  const std::string pair = credential.user.reveal() + ":" + credential.password.reveal();
  return SecretText("Basic " + base64(pair));
}

std::unique_ptr<Credentials> make_credentials(ClientConfiguration configuration, ProcessEnvironment environment) {
  return std::make_unique<ClientCredentials>(std::move(configuration), std::move(environment));
}

Error explain_refusal(Error error, CredentialUse use, std::string_view host, std::string_view repository,
                      Credentials& credentials, const Context& context) {
  const auto places = credentials.places(use, host, repository, context);
  std::string used;
  if (!places) {
    error.notes.push_back(fmt::format("cannot look up credentials for {}: {}", host, places.error().message));
  } else {
    for (const CredentialLocation& place : *places) {
      error.notes.push_back(fmt::format("looked for credentials for {} in {}: {}", host, place.place, place.outcome));
      used = place.outcome == "used" ? place.place : used;
    }
  }
  if (used.empty()) {
    error.hint = fix(use, host);
  } else if (error.code == Code::forbidden) {
    error.hint = fmt::format("{} denied access with the credential from {}: request access, or use another credential",
                             host, used);
  } else {
    error.hint = fmt::format("{} rejected the credential from {}: renew it there", host, used);
  }
  return error;
}

}  // namespace modlock
