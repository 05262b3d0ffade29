#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credentials.h"
#include "backends/credentials/process_environment.h"
#include "backends/http/http_client.h"
#include "backends/providers/provider_archives.h"
#include "backends/providers/provider_source.h"
#include "backends/registry/registry_http.h"
#include "backends/store/store.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// What sources of providers are made of; what it refers to outlives them.
struct ProviderSourceParts {
  ClientKind tool = ClientKind::opentofu;
  std::string client_version = {};  // empty: that of the newest release
  const ClientConfiguration& client;
  const ProcessEnvironment& environment;  // while they are made
  std::filesystem::path root = {};        // that the client is started in: relative paths start there
  registry::RegistryHttp metadata;
  HttpClient& http;     // for archives
  HttpClient& keeping;  // for listings
  Credentials& credentials;
  std::vector<std::string> token_realms = {};  // of OCI registries
  ProviderArchives& archives;
  const Store& store;
  // Makes the source that asks each provider's own registry, with so many attempts for a download after the first.
  std::function<std::shared_ptr<ProviderSource>(int download_retries)> registries = {};
  // Gives the mirror that is the method of this number in `provider_installation`, and that another root may have asked
  // already; where none has, it is made.
  using MakeSource = std::function<std::unique_ptr<ProviderSource>()>;
  std::function<std::shared_ptr<ProviderSource>(std::size_t method, const MakeSource& make)> mirror = {};
};

// Where a client of this release gets providers from: by `provider_installation`, else from the directories that are
// implied and, what lies in none of them, from registries (OpenTofu: cmd/tofu/provider_source.go).
std::unique_ptr<ProviderSource> make_configured_providers(const ProviderSourceParts& parts);

// TF_PROVIDER_DOWNLOAD_RETRY where it is a number above zero, else 2.
int provider_download_retries(const ProcessEnvironment& environment);

}  // namespace modlock
