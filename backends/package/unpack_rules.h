#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backends/package/unpack.h"
#include "protocol/base/result.h"

namespace modlock::unpack {

// `special` is a device, pipe or socket.
enum class EntryType { file, directory, special };

// The location of an unpacked entry.
struct Place {
  std::string path;                      // cleaned, relative, `/`-separated; empty: the directory unpacked into
  std::vector<std::string> directories;  // to be made first, in order; a new directory entry is the last of them
};

// Returns ARCHIVE_UNSAFE: `the entry "<entry>" of "<display>" <why>`.
tl::unexpected<Error> unsafe_entry(std::string_view display, std::string_view entry, std::string_view why);
// Returns ARCHIVE_UNSAFE: `"<display>" <why>`, if no single entry is the cause.
tl::unexpected<Error> unsafe_archive(std::string_view display, std::string_view why);
// Returns BAD_RESPONSE: `"<display>" cannot be unpacked: <why>`.
tl::unexpected<Error> bad_archive(std::string_view display, std::string_view why);

// The rules for the names and the total size of the entries of one archive, for all formats. They do not access the
// file system: the writer detects a file system that treats two different names as the same.
class Rules {
 public:
  // Returns the size of the archive, or at least `enough`, because the archive may still be arriving.
  using PackedSize = std::function<Result<std::uint64_t>(std::uint64_t enough)>;

  Rules(std::string_view display, PackedSize packed, const UnpackLimits& limits)
      : display_(display), packed_(std::move(packed)), limits_(limits) {}

  // Checks the next entry. nullopt: it is skipped (`.git`). Errors: ARCHIVE_UNSAFE.
  Result<std::optional<Place>> place(std::string_view name, EntryType type);

  // Checks and counts `bytes` more unpacked bytes of that entry before they are written. Errors: ARCHIVE_UNSAFE; those
  // of PackedSize.
  Result<void> grow(std::string_view name, std::uint64_t bytes);
  // The same for the stated size of an entry, without counting it, to reject an entry that is too large before it is
  // unpacked.
  Result<void> expect(std::string_view name, std::uint64_t bytes) const {
    return check_size_limits(name, unpacked_bytes_, bytes);
  }
  // The same if the caller counts: `before` are the bytes so far. May be called by any thread.
  Result<void> check_size_limits(std::string_view name, std::uint64_t before, std::uint64_t bytes) const;

  std::string_view display() const { return display_; }
  const UnpackLimits& limits() const { return limits_; }

 private:
  Result<void> remember(std::string_view name, const std::string& path, EntryType type);

  std::string display_;
  PackedSize packed_;
  UnpackLimits limits_;
  std::unordered_map<std::string, EntryType> known_;  // every file and directory so far
  std::uint64_t entries_ = 0;
  std::uint64_t name_bytes_ = 0;
  std::uint64_t unpacked_bytes_ = 0;
};

}  // namespace modlock::unpack
