#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/address/scrub.h"
#include "backends/backend.h"
#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credentials.h"
#include "backends/git/git_backend.h"
#include "backends/http/curl_http_client.h"
#include "backends/oci/registry.h"
#include "backends/providers/provider_archives.h"
#include "backends/providers/provider_source.h"
#include "backends/registry/registry_http.h"
#include "backends/store/listing_cache.h"
#include "backends/store/store.h"
#include "plugin/settings/settings.h"
#include "plugin/value/client_kind.h"

namespace modlock {

// Returns what serves in place of the built-in backend of that name ("git"), or null to keep it.
using BackendReplacement = std::function<std::unique_ptr<BackendCore>(std::string_view name)>;

struct NetworkOptions {
  ClientKind tool = ClientKind::opentofu;
  GitEngine git_engine = GitEngine::automatic;
  std::size_t connections = kConnectionsPerHost;
  std::string client_version;  // X-Terraform-Version; empty: not known, and not sent
  // Programs for further source types, and for hosts of built-in ones. The first of a scheme or host applies.
  std::vector<BackendSetting> externals = {};
  std::vector<std::string> token_realms = {};  // hosts that may receive the credentials of OCI registries
  std::vector<std::string> credential_programs = {};
  std::vector<std::string> trusted_dates = {};  // registry hosts whose publication dates are trusted
  bool memoizes = false;                        // it serves one run with all its requests
  BackendReplacement replacement = {};          // for tests: backends in memory
};

// Checks them, and writes their hosts as Source::host has them. Errors: CONFIG_PARSE at the first setting that is not a
// valid backend; INVALID_PARAMS if a host named it.
Result<void> check_externals(std::vector<BackendSetting>& externals);

// Returns Store::set_claims() for them.
std::string claims_of(const std::vector<BackendSetting>& externals);

// The network access of a client: the HTTP client, the client's credentials, and the backends that use them. No request
// is sent and no program is started before it is needed.
class Network {
 public:
  // The store outlives the object. The externals passed check_externals().
  Network(const NetworkOptions& options, const Store& store);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const BackendSet& backends() const { return backends_; }
  // Returns the names of the served source types, for a host: "git", "registry", "oci", "archive", "s3", "gcs",
  // and those of external backends.
  const std::vector<std::string>& names() const { return names_; }
  // Returns the versions of a source. Errors: SOURCE_DENIED by the settings; SOURCE_UNSUPPORTED if no backend serves
  // it; those of the backend.
  Result<Listing> list_versions(const Settings& settings, const SourceAddress& address, std::string_view tag_prefix,
                                const Context& context) const;
  // Returns the services of a registry's host, absolute URLs by name ("providers.v1"). Errors: those of service
  // discovery.
  Result<std::map<std::string, std::string>> services_of(std::string_view host, const Context& context) const;
  // Creates the provider source of `providers lock`: each provider's own registry, regardless of configuration. Each
  // call creates a new source, so that no response outlives a request. Its lifetime ends before that of this object.
  std::shared_ptr<ProviderSource> provider_source() const;
  // Creates the provider source of `init`, started in `root`: `provider_installation` of the CLI configuration, or else
  // the implied directories and registries.
  std::shared_ptr<ProviderSource> provider_source(const std::filesystem::path& root) const;
  // Creates a client of OCI registries with the user's credentials. Its lifetime ends before that of this object.
  std::unique_ptr<oci::Registry> oci_registry() const;
  // Returns the CLI configuration.
  const ClientConfiguration& client_configuration() const { return client_; }
  // Returns problems of the CLI configuration.
  const Diagnostics& warnings() const { return client_.warnings; }
  // Adds these warnings as notes to an error of a remote service: a host or token that was not read may be the cause.
  Error with_warnings(Error error) const;
  template <typename Value>
  Result<Value> with_warnings(Result<Value> result) const {
    return std::move(result).map_error([this](Error error) { return with_warnings(std::move(error)); });
  }

 private:
  registry::RegistryHttp registry_http(HttpClient& http) const;
  bool is_opentofu_from(const char* release) const;
  registry::ClientRules client_rules() const;
  std::shared_ptr<ProviderSource> source_of(const ProviderInstallation::Method& method, std::size_t number,
                                            const std::filesystem::path& root) const;
  std::vector<ProviderSelector> explicit_sources(const ProviderInstallation& installation,
                                                 const std::filesystem::path& root) const;
  std::vector<ProviderSelector> implied_sources(const std::filesystem::path& root) const;
  std::shared_ptr<ProviderSource> shared(const std::string& name,
                                         const std::function<std::unique_ptr<ProviderSource>()>& make) const;
  std::shared_ptr<ProviderSource> registry_providers(int download_retries, bool of_each_platform) const;
  void add(std::string name, std::unique_ptr<BackendCore> backend);

  const ClientKind tool_;
  const std::string client_version_;
  const std::vector<std::string> token_realms_;
  const std::vector<std::string> trusted_dates_;
  const bool memoizes_;
  const BackendReplacement replacement_;
  const Store& store_;
  const ClientConfiguration client_;
  KnownSecrets secrets_;  // that were sent: they are never shown, even if a server returns them
  const std::unique_ptr<HttpClient> wire_;
  const std::unique_ptr<HttpClient> http_;
  const std::unique_ptr<Credentials> credentials_;
  const FileResponseCache responses_;
  const std::unique_ptr<HttpClient> caching_;  // for listings
  const std::unique_ptr<ProviderArchives> archives_;
  BackendSet backends_;
  std::vector<std::string> names_;
  mutable std::mutex shared_mutex_;
  mutable std::map<std::string, std::shared_ptr<ProviderSource>> shared_;  // by name, if it sends each request once
};

// The networks of an engine or of a run, one for each client. Thread-safe.
class NetworkPool {
 public:
  // Returns the network of the client that the options name. Creates it at the first call, and again if the client's
  // CLI configuration has changed since; callers that have the older one keep it. The store outlives the pool.
  std::shared_ptr<const Network> get(const NetworkOptions& options, const Store& store);

 private:
  struct Entry {
    std::string state;  // of the CLI configuration
    std::shared_ptr<const Network> network;
  };

  std::mutex mutex_;
  std::map<std::pair<ClientKind, std::string>, Entry> networks_;  // by client
};

}  // namespace modlock
