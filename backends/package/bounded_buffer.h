#pragma once

#include <cstddef>
#include <utility>

namespace modlock::unpack {

// Memory for one file at a time. All buffers of the process together hold no more than kMostHeld: many packages are
// unpacked at the same time, by several threads each.
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

  // So many bytes, one at least, with any content, until the next call or the end. nullptr where the others leave too
  // little.
  char* reserve(std::size_t size);

 private:
  void release();

  char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace modlock::unpack
