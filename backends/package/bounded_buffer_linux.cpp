#include <sys/mman.h>

#include <atomic>

#include "backends/package/bounded_buffer.h"

namespace modlock::unpack {
namespace {

constexpr std::size_t kStep = std::size_t{1} << 20U;  // the next file may be a little larger

std::atomic<std::size_t> held{0};

}  // namespace

// Pages of their own, which are the system's again when they are given back: an allocator would keep those of each
// thread.
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

}  // namespace modlock::unpack
