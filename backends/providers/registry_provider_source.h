#pragma once

#include <memory>

#include "backends/credentials/client_configuration.h"
#include "backends/providers/provider_protocol.h"
#include "backends/providers/provider_source.h"
#include "backends/registry/registry_http.h"
#include "backends/store/store.h"

namespace modlock {

// The referenced objects are read on demand and outlive the source.
struct RegistryProviderOptions {
  registry::RegistryHttp http;  // caches the responses of requests that allow it
  const ClientConfiguration& client;
  const Store& store;
  provider_registry::ClientRules rules = provider_registry::ClientRules::opentofu_1_12;
  int download_retries = 2;         // of an archive, after the first attempt
  bool enforce_signatures = false;  // OPENTOFU_ENFORCE_GPG_VALIDATION is "true"
  bool enforce_expiration = false;  // OPENTOFU_ENFORCE_GPG_EXPIRATION is "true"
  // Query each platform even if the response for one covers the others, as `providers lock` does.
  bool asks_of_each_platform = false;
};

// The registries of the providers' own hosts ("providers.v1"). OpenTofu's default registry need not sign, unless that
// is enforced, and its list of all package hashes is trusted. In that case an archive is not downloaded if its central
// directory shows that both of its h1 are equal; the other platforms of the version are not queried; and without
// published keys the signature is not requested.
//
// The packages of one version are requested in parallel. The data of a platform, and the checksums and the signature of
// a version, are requested once in the life of the object. The store caches the hashes of each archive that was read,
// so a machine reads it only once. Errors in addition to those of ProviderSource: NO_MATCHING_VERSION (the version
// supports no protocol of the client; the hint names the newest version that does).
std::unique_ptr<ProviderSource> make_registry_provider_source(RegistryProviderOptions options);

}  // namespace modlock
