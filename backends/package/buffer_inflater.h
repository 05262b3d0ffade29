#pragma once

#include <libdeflate.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/base/deleter.h"

namespace modlock::unpack {

// Memory for one file at a time. All buffers of the process together have at most kMostHeld, because many packages are
// unpacked in parallel, each by several threads.
class BoundedBuffer {
 public:
  static constexpr std::size_t kMostHeld = std::size_t{16} << 20U;

  BoundedBuffer() = default;
  ~BoundedBuffer() { release(); }
  BoundedBuffer(BoundedBuffer&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  BoundedBuffer& operator=(BoundedBuffer&&) = delete;
  BoundedBuffer(const BoundedBuffer&) = delete;
  BoundedBuffer& operator=(const BoundedBuffer&) = delete;

  // Returns `size` bytes (at least one) with unspecified content, valid until the next call or the end of the object.
  // nullptr if the other buffers leave too little.
  char* reserve(std::size_t size);

 private:
  void release();

  char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

// Inflates data that fits into memory as a whole, in half the time of piecewise inflation. Used by one thread at a
// time.
class BufferInflater {
 public:
  // Returns the content of `packed` (RFC 1951, to its last byte): `size` bytes with this CRC-32, valid until the next
  // call. nullopt if the content is different, or if there is no memory for it (BoundedBuffer).
  std::optional<std::string_view> inflate(std::string_view packed, std::size_t size, std::uint32_t crc);

 private:
  std::unique_ptr<libdeflate_decompressor, Deleter<libdeflate_free_decompressor>> decompressor_;
  BoundedBuffer unpacked_;
};

}  // namespace modlock::unpack
