#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backends/base/context.h"
#include "backends/http/http_client.h"
#include "backends/providers/provider_source.h"
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

// Hashes archives (ArrivingArchive), and caches the hashes in the store (ProviderHashes): a machine
// reads an archive with a given zh only once. The store outlives the object.
std::unique_ptr<ProviderArchives> make_stored_archives(const Store& store);

}  // namespace modlock
