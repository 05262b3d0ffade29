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

// Where an entry goes.
struct Place {
  std::string path;                      // cleaned, relative, `/`-separated; empty: the directory unpacked into
  std::vector<std::string> directories;  // to be made before, parents first; a new directory entry is the last of them
};

// ARCHIVE_UNSAFE: `the entry "<entry>" of "<display>" <why>`.
tl::unexpected<Error> unsafe_entry(std::string_view display, std::string_view entry, std::string_view why);
// ARCHIVE_UNSAFE: `"<display>" <why>`, where no single entry is to blame.
tl::unexpected<Error> unsafe_archive(std::string_view display, std::string_view why);
// BAD_RESPONSE: `"<display>" cannot be unpacked: <why>`.
tl::unexpected<Error> bad_archive(std::string_view display, std::string_view why);

// What the entries of one archive may be called and how much they may be together, whatever the format. Touches no file
// system: a file system that takes two different names for one is found by whoever writes.
class Rules {
 public:
  // How large the archive is, or at least `enough`: it may still be arriving.
  using PackedSize = std::function<Result<std::uint64_t>(std::uint64_t enough)>;

  Rules(std::string_view display, PackedSize packed, const UnpackLimits& limits)
      : display_(display), packed_(std::move(packed)), limits_(limits) {}

  // Judges the next entry. nullopt: it is left out (version control). Errors: ARCHIVE_UNSAFE.
  Result<std::optional<Place>> place(std::string_view name, EntryType type);

  // Judges as many more unpacked bytes, which belong to that entry, before they are written. Errors: ARCHIVE_UNSAFE;
  // those of PackedSize.
  Result<void> grow(std::string_view name, std::uint64_t bytes);
  // The same of as many bytes as an entry says it has, without counting them: what is too much is refused before it is
  // unpacked.
  Result<void> expect(std::string_view name, std::uint64_t bytes) const {
    return check_size_limits(name, unpacked_bytes_, bytes);
  }
  // The same where somebody else counts: `before` are the bytes so far. May be called by any thread.
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
