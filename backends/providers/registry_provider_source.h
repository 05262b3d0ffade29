#pragma once

#include <memory>
#include <string>

#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"
#include "backends/providers/provider_protocol.h"
#include "backends/providers/provider_source.h"
#include "backends/registry/registry_http.h"
#include "backends/store/store.h"

namespace modlock {

// What the referenced objects say is read when it is needed: they outlive the source.
struct RegistryProviderOptions {
  HttpClient& http;  // that keeps what it is asked to
  Credentials& credentials;
  const ClientConfiguration& client;
  const Store& store;
  registry::RequestPolicy policy = {};  // request_policy() of the environment and of `client`
  provider_registry::ClientRules rules = provider_registry::ClientRules::opentofu_1_12;
  std::string client_version = {};  // X-Terraform-Version; empty: not sent
  std::string user_agent = {};      // with TF_APPEND_USER_AGENT; empty: that of `http`
  int download_retries = 2;         // of an archive, after the first attempt
  bool enforce_signatures = false;  // OPENTOFU_ENFORCE_GPG_VALIDATION is "true"
  bool enforce_expiration = false;  // OPENTOFU_ENFORCE_GPG_EXPIRATION is "true"
  // Whatever the answer for one platform says of the others, as `providers lock` does.
  bool asks_of_each_platform = false;
};

// Provider registries, each provider's own ("providers.v1"). OpenTofu's default registry need not sign, unless that is
// enforced, and its word on the hashes of all packages is taken: then an archive whose list of entries shows that both
// of its h1 are the same is not downloaded, the other platforms of the version are not asked for, and without published
// keys no signature is.
//
// The packages of one version are asked for in parallel; what is known of a platform, and the checksums and the
// signature of a version, is asked for once in the life of the object. Of each archive that is read the store keeps the
// hashes: a machine reads it once. Beside the errors of ProviderSource: NO_MATCHING_VERSION (a version that speaks no
// protocol which the client speaks; the hint names the newest that does).
std::unique_ptr<ProviderSource> make_registry_provider_source(RegistryProviderOptions options);

}  // namespace modlock
