#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
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
  std::uint64_t offset = 0;      // of its local header in the file
  std::uint8_t system = 0;       // the system that wrote the attributes
  std::uint32_t attributes = 0;  // "external file attributes"
  bool is_directory = false;     // by its mode or its name
};

struct ZipDirectoryLimits {
  std::uint64_t bytes = 0;
  std::uint64_t entries = std::numeric_limits<std::uint64_t>::max();
};

// The end of a zip file: the bytes from `begin` on.
struct ZipTail {
  std::string_view bytes;
  std::uint64_t begin = 0;
};

// The offset in the zip file from which bytes are needed to read its directory.
struct ZipTailNeeded {
  std::uint64_t begin = 0;
};

// Reads the central directory as Go's archive/zip does, which the clients use: from the last end record whose comment
// fits, allowing for other bytes before the first entry. ZipTailNeeded if the tail is too short; it never needs more
// than `limits.bytes`. Errors: BAD_RESPONSE naming `display` (not a zip file, damaged, empty); ARCHIVE_UNSAFE (a
// directory that exceeds the limits, before it is read).
Result<std::variant<std::vector<ZipEntry>, ZipTailNeeded>> read_zip_directory(const ZipTail& tail,
                                                                              const ZipDirectoryLimits& limits,
                                                                              std::string_view display);

// Returns the last `wanted` bytes of a file, or as many as there are.
using ReadTail = std::function<Result<std::string>(std::size_t wanted)>;

// The same for a file of `size` bytes. Errors: also those of `read_tail`.
Result<std::vector<ZipEntry>> read_zip_directory(const ReadTail& read_tail, std::uint64_t size,
                                                 const ZipDirectoryLimits& limits, std::string_view display);

// Reads a little-endian number of `size` bytes, which must exist.
std::uint64_t zip_number(std::string_view bytes, std::size_t at, std::size_t size);

}  // namespace modlock
