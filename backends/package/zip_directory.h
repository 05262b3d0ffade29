#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace modlock {

// An entry in the central directory of a zip file.
struct ZipEntry {
  std::string name;  // raw bytes
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;  // bytes
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // of its local header in the file
  // By "external file attributes" (APPNOTE.TXT 4.4.15), as FileHeader.Mode of Go's archive/zip reads them.
  unsigned mode = 0;          // the permission bits
  bool is_directory = false;  // also by its name
  bool is_special = false;    // a device, pipe or socket
};

struct ZipDirectoryLimits {
  std::uint64_t bytes = 0;
  std::uint64_t entries = std::numeric_limits<std::uint64_t>::max();
};

// Returns `size` bytes of a file from `at` on.
using ReadBytes = std::function<Result<std::string>(std::uint64_t at, std::uint64_t size)>;

// Reads the central directory of a file of `size` bytes as Go's archive/zip does, which the clients use: from the last
// end record whose comment fits, allowing for other bytes before the first entry. `tail` is what is known of the end of
// the file; `read_bytes` is called for what is needed before it, and never for more than `limits.bytes` and 128 KiB.
// Errors: BAD_RESPONSE naming `display` (not a zip file, damaged, empty); ARCHIVE_UNSAFE (a directory that exceeds the
// limits, before it is read); those of `read_bytes`.
Result<std::vector<ZipEntry>> read_zip_directory(std::string tail, std::uint64_t size, const ReadBytes& read_bytes,
                                                 const ZipDirectoryLimits& limits, std::string_view display);

// Reads a little-endian number of `size` bytes, which must exist.
std::uint64_t zip_number(std::string_view bytes, std::size_t at, std::size_t size);

}  // namespace modlock
