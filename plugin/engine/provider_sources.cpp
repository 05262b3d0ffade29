#include "plugin/engine/provider_sources.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>
#include <vector>

#include "backends/address/version.h"
#include "backends/base/files.h"
#include "backends/providers/filesystem_mirror.h"
#include "backends/providers/network_mirror.h"
#include "backends/providers/oci_mirror.h"
#include "backends/providers/provider_source.h"
#include "plugin/client/client_configuration.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

using Method = ProviderInstallation::Method;

bool is_opentofu_from(const ProviderSourceParts& parts, const char* release) {
  const auto version = Version::parse(parts.client_version);
  return parts.tool == ClientKind::opentofu && !(version && *version < *Version::parse(release));
}

std::unique_ptr<ProviderSource> network_mirror(const ProviderSourceParts& parts, const Method& method) {
  NetworkMirrorOptions options{
      .url = method.location,
      .client_version = parts.client_version,
      .download_retries = method.download_retries.value_or(provider_download_retries(parts.environment)),
      .trust_all_hashes = method.trust_all_hashes && is_opentofu_from(parts, "1.12.0-0"),
      .records_listed_hashes = is_opentofu_from(parts, "1.10.0-0"),
      .requires_signatures = parts.environment.variable("OPENTOFU_ENFORCE_GPG_VALIDATION") == "true"};
  return make_network_mirror(std::move(options), parts.metadata, parts.http, parts.archives);
}

std::shared_ptr<ProviderSource> source_of(const ProviderSourceParts& parts, const Method& method, std::size_t number) {
  switch (method.kind) {
    case Method::Kind::filesystem_mirror:
      return make_filesystem_mirror(parts.root / method.location, parts.archives, parts.store);
    case Method::Kind::network_mirror:
      return parts.mirror(number, [&] { return network_mirror(parts, method); });
    case Method::Kind::oci_mirror:
      return parts.mirror(number, [&] {
        return make_oci_mirror(method.repository, parts.keeping, parts.credentials, parts.archives, parts.token_realms);
      });
    case Method::Kind::direct:
      break;
  }
  return parts.registries(method.download_retries.value_or(provider_download_retries(parts.environment)));
}

std::vector<ProviderSelector> explicit_sources(const ProviderSourceParts& parts,
                                               const ProviderInstallation& installation) {
  std::vector<ProviderSelector> selectors;
  for (std::size_t i = 0; i < installation.methods.size(); ++i) {
    const Method& method = installation.methods[i];
    if (method.kind != Method::Kind::oci_mirror || is_opentofu_from(parts, "1.10.0-0")) {
      selectors.push_back({.source = source_of(parts, method, i),
                           .serves = [method](const ProviderAddress& provider) { return method.serves(provider); }});
    }
  }
  return selectors;
}

std::vector<ProviderSelector> implied_sources(const ProviderSourceParts& parts) {
  std::vector<ProviderSelector> selectors;
  std::set<ProviderAddress> local;
  for (const fs::path& directory : implied_provider_directories(parts.tool, parts.environment, parts.root)) {
    if (!path_is_directory(directory)) {
      continue;
    }
    if (const auto found = find_local_providers(directory)) {
      std::transform(found->begin(), found->end(), std::inserter(local, local.end()),
                     [](const auto& entry) { return entry.first; });
    }
    selectors.push_back({.source = make_filesystem_mirror(directory, parts.archives, parts.store),
                         .serves = [](const ProviderAddress&) { return true; }});
  }
  selectors.push_back(
      {.source = parts.registries(provider_download_retries(parts.environment)),
       .serves = [local = std::move(local)](const ProviderAddress& provider) { return local.count(provider) == 0; }});
  return selectors;
}

}  // namespace

std::unique_ptr<ProviderSource> make_configured_providers(const ProviderSourceParts& parts) {
  const auto& installation = parts.client.provider_installation;
  return make_multi_source(installation ? explicit_sources(parts, *installation) : implied_sources(parts));
}

int provider_download_retries(const ProcessEnvironment& environment) {
  constexpr int kDefault = 2;
  const std::string_view text = environment.variable("TF_PROVIDER_DOWNLOAD_RETRY");
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() && count > 0 ? count : kDefault;
}

}  // namespace modlock
