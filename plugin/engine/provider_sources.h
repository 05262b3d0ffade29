#pragma once

#include <filesystem>
#include <functional>
#include <memory>
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

// The parts of provider sources. References outlive the sources.
struct ProviderSourceParts {
  ClientKind tool = ClientKind::opentofu;
  std::string client_version = {};  // empty: the newest version
  const ClientConfiguration& client;
  const ProcessEnvironment& environment;  // while they are created
  std::filesystem::path root = {};        // the client's working directory: relative paths start there
  registry::RegistryHttp metadata;
  HttpClient& http;     // for archives
  HttpClient& keeping;  // for listings
  Credentials& credentials;
  std::vector<std::string> token_realms = {};  // of OCI registries
  ProviderArchives& archives;
  const Store& store;
  // Creates the source that queries each provider's own registry, with this number of retries for a download.
  std::function<std::shared_ptr<ProviderSource>(int download_retries)> registries = {};
  // Returns the mirror that is the method of this number in `provider_installation`. Creates it if no other root has
  // used it yet.
  using MakeSource = std::function<std::unique_ptr<ProviderSource>()>;
  std::function<std::shared_ptr<ProviderSource>(std::size_t method, const MakeSource& make)> mirror = {};
};

// Creates the provider source of this client version: `provider_installation`, or else the implied directories and, for
// all other providers, registries (OpenTofu: cmd/tofu/provider_source.go).
std::unique_ptr<ProviderSource> make_configured_providers(const ProviderSourceParts& parts);

// Returns TF_PROVIDER_DOWNLOAD_RETRY if it is a number above zero, or else 2.
int provider_download_retries(const ProcessEnvironment& environment);

}  // namespace modlock
