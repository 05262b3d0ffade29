#include "backends/package/buffer_inflater.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>

namespace modlock::unpack {
namespace {

constexpr std::size_t kStep = std::size_t{1} << 20U;  // the next file may be a little larger

std::atomic<std::size_t> held{0};

}  // namespace

// Separate pages are returned to the system when they are freed: an allocator would keep those of each thread.
char* BoundedBuffer::reserve(std::size_t size) {
  if (bytes_ != nullptr && size <= size_) {
    return bytes_;
  }
  release();
  size = (size + kStep - 1) / kStep * kStep;
  if (held.fetch_add(size) + size > kMostHeld) {
    held -= size;
    return nullptr;
  }
  void* const pages =
      size == 0 ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    held -= size;
    return nullptr;
  }
  bytes_ = static_cast<char*>(pages);
  size_ = size;
  return bytes_;
}

void BoundedBuffer::release() {
  if (bytes_ != nullptr) {
    ::munmap(std::exchange(bytes_, nullptr), size_);
    held -= std::exchange(size_, 0);
  }
}

std::optional<std::string_view> BufferInflater::inflate(std::string_view packed, std::size_t size, std::uint32_t crc) {
  if (decompressor_ == nullptr) {
    decompressor_.reset(libdeflate_alloc_decompressor());
  }
  char* const unpacked = unpacked_.reserve(std::max<std::size_t>(size, 1));
  if (decompressor_ == nullptr || unpacked == nullptr) {
    return std::nullopt;
  }
  std::size_t taken = 0;
  std::size_t made = 0;
  const libdeflate_result result = libdeflate_deflate_decompress_ex(decompressor_.get(), packed.data(), packed.size(),
                                                                    unpacked, size, &taken, &made);
  if (result != LIBDEFLATE_SUCCESS || taken != packed.size() || made != size ||
      libdeflate_crc32(0U, unpacked, size) != crc) {
    return std::nullopt;
  }
  return std::string_view(unpacked, size);
}

}  // namespace modlock::unpack
