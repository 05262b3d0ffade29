#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace modlock
