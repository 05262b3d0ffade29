#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "backends/http/response_cache.h"
#include "backends/store/store.h"

namespace modlock {

// What sources answered when they were asked last, for who is offline: nobody else reads it, as a selection takes a
// fresh listing. A file per question among the responses of a store (its response_directory()):
//   listing-<sha256 hex of package and tag prefix>.json   {"package", "tagPrefix", "fetchedAt", "complete", "versions":
//                                                         [{"version", "tag", "id", "ref", "ambiguousWith"}]}
//   pin-<sha256 hex of the source>.json                   {"source", "fetchedAt", "id", "ref"}
// Times are seconds since 1970. What cannot be read is as if absent; failing to write is no error.
class ListingCache {
 public:
  struct CachedPin {
    Pin pin;
    std::chrono::system_clock::time_point fetched_at;
  };

  // The store outlives this.
  explicit ListingCache(const Store& store) : store_(store) {}

  // `package` names what was asked, without secrets or hashed; its listing has no skipped tags.
  std::optional<Listing> find(std::string_view package, std::string_view tag_prefix) const;
  void keep(std::string_view package, std::string_view tag_prefix, const Listing& listing) const;
  std::optional<CachedPin> find_pin(const Source& source) const;
  void keep_pin(const Source& source, const Pin& pin, std::chrono::system_clock::time_point now) const;

 private:
  std::filesystem::path file_of(std::string_view kind, std::string_view question) const;

  const Store& store_;
};

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
