#pragma once

#include <filesystem>

#include "backends/http/response_cache.h"
#include "backends/store/store.h"

namespace modlock {

// A ResponseCache of one file per URL below v2/responses of a store. Names are hashes of the URLs; a file holds {"url"
// without query and user-info, "etag", "lastModified", "headers", "body" (where it is no UTF-8 "bodyBase64" instead),
// "fetchedAt" in seconds since 1970}.
class FileResponseCache final : public ResponseCache {
 public:
  // The store outlives this.
  explicit FileResponseCache(const Store& store) : store_(store) {}

  std::optional<CachedResponse> find(const SecretText& url) const override;
  void keep(const SecretText& url, const CachedResponse& response) const override;

 private:
  std::filesystem::path file_of(const SecretText& url) const;

  const Store& store_;
};

}  // namespace modlock
