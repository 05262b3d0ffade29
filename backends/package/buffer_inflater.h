#pragma once

#include <libdeflate.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "backends/base/deleter.h"
#include "backends/package/bounded_buffer.h"

namespace modlock::unpack {

// Inflates what fits into memory as a whole, in half the time that it takes piece by piece. Used by one thread at a
// time.
class BufferInflater {
 public:
  // What `packed` (RFC 1951, to its last byte) holds: `size` bytes with this CRC-32, until the next call. nullopt where
  // it holds anything else, or there is no memory for it (BoundedBuffer).
  std::optional<std::string_view> inflate(std::string_view packed, std::size_t size, std::uint32_t crc);

 private:
  std::unique_ptr<libdeflate_decompressor, Deleter<libdeflate_free_decompressor>> decompressor_;
  BoundedBuffer unpacked_;
};

}  // namespace modlock::unpack
