#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backends/base/context.h"
#include "backends/http/http_client.h"
#include "backends/package/provider_archive.h"
#include "backends/providers/provider_client.h"
#include "backends/providers/provider_source.h"
#include "backends/store/provider_hashes.h"
#include "backends/store/store.h"
#include "protocol/base/result.h"

namespace modlock {

// Hashes archives of provider packages. Thread-safe.
class ProviderArchives {
 public:
  virtual ~ProviderArchives() = default;

  struct Archive {
    std::string display;  // "registry.opentofu.org/hashicorp/null 3.2.0 for linux_amd64"
    std::string type;     // of the provider, whose program the archive must contain
    std::string zh = {};  // "zh:…" if known
  };
  // Writes the bytes of the archive into a sink.
  using Send = std::function<Result<void>(BodySink&)>;

  // Returns the hashes of the archive, all except `recorded`. Calls `send` if zh is not given or the hashes are
  // unknown; then the caller compares zh. Errors: those of `send`; ARCHIVE_UNSAFE and
  // BAD_RESPONSE for archives that clients cannot extract or start.
  virtual Result<ProviderPackage> hashes_of(const Archive& archive, const Send& send, const Context& context) = 0;
};

// Returns the hashes of an archive that the store has, else those that `read` returns, which the store then keeps.
// Waits while another process reads the same archive. `plain_suffices`: known without its h1 if it is plain. Errors:
// those of `read` and ProviderHashes::hold().
Result<ProviderArchiveHashes> known_or_read(const ProviderHashes& known, const std::string& zh, bool plain_suffices,
                                            const Context& context,
                                            const std::function<Result<ProviderArchiveHashes>()>& read);

// Hashes archives (ArrivingArchive), and caches the hashes in the store (ProviderHashes): a machine
// reads an archive with a given zh only once. The store outlives the object.
std::unique_ptr<ProviderArchives> make_stored_archives(const Store& store);

}  // namespace modlock

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
Result<ProviderArchiveHashes> read_archive(const ProviderClient& client, const ProviderArchiveRequest& request,
                                           const std::filesystem::path& temporary, const Context& context);

// Reads only the central directory at the end of an archive (HTTP Range). If the server sends the whole archive, reads
// it whole. Returns nullopt if the directory does not show that the archive is plain, or if it cannot be obtained. An
// archive that was only probed has no hashes, because its bytes were not compared with `request.zh`. Errors: as
// read_archive().
Result<std::optional<ProviderArchiveHashes>> probe_archive(const ProviderClient& client,
                                                           const ProviderArchiveRequest& request,
                                                           const std::filesystem::path& temporary,
                                                           const Context& context);

}  // namespace modlock::provider_registry
