#include "backends/package/buffer_inflater.h"

#include <algorithm>

namespace modlock::unpack {

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
