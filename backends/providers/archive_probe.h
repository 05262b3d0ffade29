#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "backends/http/http_client.h"
#include "backends/package/provider_archive.h"
#include "backends/providers/provider_client.h"
#include "backends/store/provider_hashes.h"

namespace modlock::provider_registry {

// An archive to be read.
struct ProviderArchiveRequest {
  SecretText url;
  std::string zh;       // that it has to have
  std::string display;  // "registry.opentofu.org/hashicorp/null 3.2.0 for linux_amd64"
};

// Reads an archive whole while it arrives. Errors: those of ProviderClient::send_anonymously() and
// ProviderArchive::finish().
Result<KnownArchive> read_archive(const ProviderClient& client, const ProviderArchiveRequest& request,
                                  const std::filesystem::path& temporary, const Context& context);

// Reads the list of entries at the end of an archive alone (HTTP Range). Where the server gives the whole of it
// instead, it is read whole. nullopt where the list does not say that the archive is plain, or cannot be had that way.
// What was looked at has no hashes: its bytes were not compared with `request.zh`. Errors: as read_archive().
Result<std::optional<KnownArchive>> probe_archive(const ProviderClient& client, const ProviderArchiveRequest& request,
                                                  const std::filesystem::path& temporary, const Context& context);

}  // namespace modlock::provider_registry
