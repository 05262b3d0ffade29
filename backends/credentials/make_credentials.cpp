#include "backends/credentials/make_credentials.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/credentials/netrc_places.h"
#include "backends/credentials/oci_places.h"
#include "backends/credentials/registry_places.h"

namespace modlock {
namespace {

bool ends_the_run(const std::optional<Error>& failure) {
  return failure && (failure->code == Code::request_cancelled || failure->code == Code::deadline_exceeded);
}

// A line end would let a token write headers of its own.
bool fits_a_header(std::string_view token) {
  return std::all_of(token.begin(), token.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte != 0x7F);
  });
}

class ClientCredentials final : public Credentials {
 public:
  ClientCredentials(ClientConfiguration configuration, Surroundings surroundings)
      : configuration_(std::move(configuration)),
        surroundings_(std::move(surroundings)),
        registry_(configuration_, surroundings_),
        oci_(configuration_, surroundings_),
        netrc_(surroundings_) {}

  Result<FoundCredential> find(CredentialUse use, std::string_view host, std::string_view repository,
                               const Context& context) override {
    Lookup lookup = look(use, host, repository, context);
    if (lookup.failure) {
      return fail(std::move(*lookup.failure));
    }
    return std::move(lookup.found);
  }

  Result<std::vector<CredentialPlace>> places(CredentialUse use, std::string_view host, std::string_view repository,
                                              const Context& context) override {
    Lookup lookup = look(use, host, repository, context);
    if (ends_the_run(lookup.failure)) {
      return fail(std::move(*lookup.failure));
    }
    return std::move(lookup.places);
  }

 private:
  Lookup look(CredentialUse use, std::string_view host, std::string_view repository, const Context& context) {
    Lookup lookup = look_in_places(use, host, repository, context);
    const auto* token = std::get_if<TokenCredential>(&lookup.found.secret);
    if (token != nullptr && !fits_a_header(token->access_token.reveal())) {
      lookup.failure = Error{
          .code = Code::config_parse,
          .message = fmt::format("the token of {} holds a line end or another control character", lookup.found.from),
          .hint = "write the token without it"};
      for (CredentialPlace& place : lookup.places) {
        place.outcome = place.outcome == "used" ? "not usable: " + lookup.failure->message : place.outcome;
      }
    }
    return lookup;
  }

  Lookup look_in_places(CredentialUse use, std::string_view host, std::string_view repository, const Context& context) {
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
  const Surroundings surroundings_;
  RegistryPlaces registry_;
  OciPlaces oci_;
  NetrcPlaces netrc_;
};

}  // namespace

std::unique_ptr<Credentials> make_credentials(ClientConfiguration configuration, Surroundings surroundings) {
  return std::make_unique<ClientCredentials>(std::move(configuration), std::move(surroundings));
}

}  // namespace modlock
