#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "backends/http/http_client.h"
#include "backends/package/provider_archive.h"
#include "backends/providers/provider_client.h"
#include "backends/store/provider_hashes.h"

namespace modlock::provider_registry {

struct ProviderArchiveRequest {
  SecretText url;
  std::string zh;       // the expected hash
  std::string display;  // "registry.opentofu.org/hashicorp/null 3.2.0 for linux_amd64"
};

// Downloads an archive. Errors: those of ProviderClient::send_anonymously() and of the sink.
Result<void> download_archive(const ProviderClient& client, const ProviderArchiveRequest& request, BodySink& sink,
                              const Context& context);

// Downloads an archive and hashes it. Errors: those of ProviderClient::send_anonymously() and
// ArrivingArchive::finish().
Result<KnownArchive> read_archive(const ProviderClient& client, const ProviderArchiveRequest& request,
                                  const std::filesystem::path& temporary, const Context& context);

// Reads only the central directory at the end of an archive (HTTP Range). If the server sends the whole archive, reads
// it whole. Returns nullopt if the directory does not show that the archive is plain, or if it cannot be obtained. An
// archive that was only probed has no hashes, because its bytes were not compared with `request.zh`. Errors: as
// read_archive().
Result<std::optional<KnownArchive>> probe_archive(const ProviderClient& client, const ProviderArchiveRequest& request,
                                                  const std::filesystem::path& temporary, const Context& context);

}  // namespace modlock::provider_registry
