#include <fmt/format.h>

#include "backends/address/service_host.h"
#include "backends/credentials/credentials.h"
#include "backends/credentials/registry_credential_finder.h"

namespace modlock {
namespace {

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

Error explain_refusal(Error error, CredentialUse use, std::string_view host, std::string_view repository,
                      Credentials& credentials, const Context& context) {
  const auto places = credentials.places(use, host, repository, context);
  std::string used;
  if (!places) {
    error.notes.push_back(fmt::format("credentials for {} could not be looked for: {}", host, places.error().message));
  } else {
    for (const CredentialLocation& place : *places) {
      error.notes.push_back(fmt::format("looked for credentials for {} in {}: {}", host, place.place, place.outcome));
      used = place.outcome == "used" ? place.place : used;
    }
  }
  if (used.empty()) {
    error.hint = fix(use, host);
  } else if (error.code == Code::forbidden) {
    error.hint = fmt::format("{} does not take the credential from {} for this: have it allowed there, or use another",
                             host, used);
  } else {
    error.hint = fmt::format("{} refused the credential from {}: renew it there", host, used);
  }
  return error;
}

}  // namespace modlock
