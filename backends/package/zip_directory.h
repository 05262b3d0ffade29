#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/base/result.h"

namespace modlock {

// An entry of a zip file, as its central directory has it.
struct ZipEntry {
  std::string name;  // raw bytes
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;  // bytes
  std::uint64_t size = 0;
  std::uint64_t offset = 0;      // of its local header in the file
  std::uint8_t system = 0;       // that wrote the attributes
  std::uint32_t attributes = 0;  // "external file attributes"
  bool is_directory = false;     // by its mode or its name
};

// What a central directory may come to.
struct ZipDirectoryLimits {
  std::uint64_t bytes = 0;
  std::uint64_t entries = std::numeric_limits<std::uint64_t>::max();
};

// The end of a zip file: the bytes from `begin` on.
struct ZipTail {
  std::string_view bytes;
  std::uint64_t begin = 0;
};

// From where on the bytes of a zip file have to be known to read its directory.
struct ZipTailNeeded {
  std::uint64_t begin = 0;
};

// Reads the central directory as Go's archive/zip does, which the clients use: from the last end record whose comment
// fits, with whatever stands in front of the first entry taken into account. ZipTailNeeded where the tail is too short;
// a longer one never asks for more than `limits.bytes`. Errors: BAD_RESPONSE naming `display` (no zip file, damaged,
// nothing in it); ARCHIVE_UNSAFE (a directory beyond the limits, before it is read).
Result<std::variant<std::vector<ZipEntry>, ZipTailNeeded>> read_zip_directory(const ZipTail& tail,
                                                                              const ZipDirectoryLimits& limits,
                                                                              std::string_view display);

// Returns the last `wanted` bytes of a file, or as many of them as can be had.
using ReadTail = std::function<Result<std::string>(std::size_t wanted)>;

// The same of a file of `size` bytes. Errors: those of `read_tail` too.
Result<std::vector<ZipEntry>> read_zip_directory(const ReadTail& read_tail, std::uint64_t size,
                                                 const ZipDirectoryLimits& limits, std::string_view display);

// A number of `size` bytes, lowest first; the bytes are there.
std::uint64_t zip_number(std::string_view bytes, std::size_t at, std::size_t size);

}  // namespace modlock
