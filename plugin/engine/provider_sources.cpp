// The part of Network that makes the provider sources of a client version: `provider_installation`, or else the implied
// directories and, for all other providers, registries (OpenTofu: cmd/tofu/provider_source.go).

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "backends/address/version.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "backends/providers/filesystem_mirror.h"
#include "backends/providers/network_mirror.h"
#include "backends/providers/oci_mirror.h"
#include "plugin/client/client_configuration.h"
#include "plugin/engine/network.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Returns TF_PROVIDER_DOWNLOAD_RETRY if it is a number above zero, or else 2.
int download_retries(const ProcessEnvironment& environment) {
  constexpr int kDefault = 2;
  const std::string_view text = environment.variable("TF_PROVIDER_DOWNLOAD_RETRY");
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() && count > 0 ? count : kDefault;
}

}  // namespace

bool Network::is_opentofu_from(const char* release) const {
  const auto version = Version::parse(client_version_);
  return tool_ == ClientKind::opentofu && !(version && *version < *Version::parse(release));
}

std::shared_ptr<ProviderSource> Network::source_of(const ProviderInstallation::Method& method, std::size_t number,
                                                   const fs::path& root) const {
  using Kind = ProviderInstallation::Method::Kind;
  const ProcessEnvironment environment = current_environment();
  const int retries = method.download_retries.value_or(download_retries(environment));
  const auto make_mirror = [&]() -> std::unique_ptr<ProviderSource> {
    if (method.kind == Kind::oci_mirror) {
      return make_oci_mirror(method.repository, *caching_, *credentials_, *archives_, token_realms_);
    }
    return make_network_mirror(
        {.url = method.location,
         .client_version = client_version_,
         .download_retries = retries,
         .trust_all_hashes = method.trust_all_hashes && is_opentofu_from("1.12.0-0"),
         .records_listed_hashes = is_opentofu_from("1.10.0-0"),
         .requires_signatures = environment.variable("OPENTOFU_ENFORCE_GPG_VALIDATION") == "true"},
        registry_http(*caching_), *http_, *archives_);
  };
  switch (method.kind) {
    case Kind::filesystem_mirror:
      return make_filesystem_mirror(root / method.location, *archives_, store_);
    case Kind::network_mirror:
    case Kind::oci_mirror:
      return shared(fmt::format("method {}", number), make_mirror);
    case Kind::direct:
      break;
  }
  return registry_providers(retries, false);
}

std::vector<ProviderSelector> Network::explicit_sources(const ProviderInstallation& installation,
                                                        const fs::path& root) const {
  std::vector<ProviderSelector> selectors;
  for (std::size_t i = 0; i < installation.methods.size(); ++i) {
    const ProviderInstallation::Method& method = installation.methods[i];
    if (method.kind != ProviderInstallation::Method::Kind::oci_mirror || is_opentofu_from("1.10.0-0")) {
      selectors.push_back({.source = source_of(method, i, root),
                           .serves = [method](const ProviderAddress& provider) { return method.serves(provider); }});
    }
  }
  return selectors;
}

std::vector<ProviderSelector> Network::implied_sources(const fs::path& root) const {
  std::vector<ProviderSelector> selectors;
  std::set<ProviderAddress> local;
  const ProcessEnvironment environment = current_environment();
  for (const fs::path& directory : implied_provider_directories(tool_, environment, root)) {
    if (!path_is_directory(directory)) {
      continue;
    }
    if (const auto found = find_local_providers(directory)) {
      std::ranges::transform(*found, std::inserter(local, local.end()), [](const auto& entry) { return entry.first; });
    }
    selectors.push_back({.source = make_filesystem_mirror(directory, *archives_, store_),
                         .serves = [](const ProviderAddress&) { return true; }});
  }
  selectors.push_back(
      {.source = registry_providers(download_retries(environment), false),
       .serves = [local = std::move(local)](const ProviderAddress& provider) { return local.count(provider) == 0; }});
  return selectors;
}

std::shared_ptr<ProviderSource> Network::provider_source() const {
  return registry_providers(download_retries(current_environment()), true);
}

std::shared_ptr<ProviderSource> Network::provider_source(const fs::path& root) const {
  const auto& installation = client_.provider_installation;
  auto selectors = installation ? explicit_sources(*installation, root) : implied_sources(root);
  return make_shared_provider_source(make_multi_source(std::move(selectors)), secrets_, {store_, trusted_dates_},
                                     false);
}

}  // namespace modlock
