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

// Finds the hashes of archives of provider packages. Thread-safe.
class ProviderArchives {
 public:
  virtual ~ProviderArchives() = default;

  struct Archive {
    std::string display;  // "registry.opentofu.org/hashicorp/null 3.2.0 for linux_amd64"
    std::string type;     // of the provider, whose program has to be in there
    std::string zh = {};  // "zh:…" where it is known
  };
  // Writes the bytes of the archive into a sink.
  using Send = std::function<Result<void>(BodySink&)>;

  // The hashes of the archive, all but `recorded`; `send` is called where its zh is not given or nothing is known of
  // it, and then it is the caller's to compare zh. Nothing is unpacked to disk. Errors: those of `send`; ARCHIVE_UNSAFE
  // and BAD_RESPONSE of what no client unpacks or starts.
  virtual Result<ProviderPackage> hashes_of(const Archive& archive, const Send& send, const Context& context) = 0;
};

// Reads archives while they arrive (ProviderArchive), and keeps their hashes in the store (ProviderHashes): of one
// whose zh is given a machine reads the bytes once. The store outlives it.
std::unique_ptr<ProviderArchives> make_stored_archives(const Store& store);

}  // namespace modlock
