#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>

#include "backends/http/wrapping_clients.h"
#include "backends/store/store.h"

namespace modlock {

// The last responses of sources, for offline mode. Only offline runs read them, because a selection requires a fresh
// listing. Each query has a file among the responses of a store (its response_directory()):
//   listing-<sha256 hex of package and tag prefix>.json   {"package", "tagPrefix", "fetchedAt", "complete", "versions":
//                                                         [{"version", "tag", "id", "ref", "ambiguousWith",
//                                                         "published", "deprecated"}]}
//   pin-<sha256 hex of the source>.json                   {"source", "fetchedAt", "id", "ref"}
// Times are seconds since 1970. Unreadable files are treated as absent; a failure to write is no error.
class ListingCache {
 public:
  struct CachedPin {
    Pin pin;
    std::chrono::system_clock::time_point fetched_at;
  };

  // The store outlives this.
  explicit ListingCache(const Store& store) : store_(store) {}

  // `package` identifies the package of the query; it contains no secrets or is hashed. A returned listing has no
  // skipped tags.
  std::optional<Listing> find(std::string_view package, std::string_view tag_prefix) const;
  void keep(std::string_view package, std::string_view tag_prefix, const Listing& listing) const;
  std::optional<CachedPin> find_pin(const Source& source) const;
  void keep_pin(const Source& source, const Pin& pin, std::chrono::system_clock::time_point now) const;

 private:
  std::filesystem::path file_of(std::string_view kind, std::string_view question) const;

  const Store& store_;
};

// A ResponseCache with one file per URL below v2/responses of a store. The file names are hashes of the URLs. A file
// contains {"url" without query and user-info, "etag", "lastModified", "headers", "body" ("bodyBase64" if the body is
// not UTF-8), "fetchedAt" in seconds since 1970}.
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
