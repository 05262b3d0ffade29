#include "backends/package/inflate_whole.h"

namespace modlock::unpack {

std::optional<std::string_view> WholeInflater::inflate(std::string_view packed, std::size_t size, std::uint32_t crc) {
  if (decompressor_ == nullptr) {
    decompressor_.reset(libdeflate::alloc_decompressor());
  }
  if (decompressor_ == nullptr) {
    return std::nullopt;
  }
  if (unpacked_.size() < size) {
    unpacked_.resize(size);
  }
  std::size_t taken = 0;
  std::size_t made = 0;
  const libdeflate_result result = libdeflate::deflate_decompress_ex(decompressor_.get(), packed.data(), packed.size(),
                                                                     unpacked_.data(), size, &taken, &made);
  if (result != LIBDEFLATE_SUCCESS || taken != packed.size() || made != size ||
      libdeflate::crc32(0U, unpacked_.data(), size) != crc) {
    return std::nullopt;
  }
  return std::string_view(unpacked_.data(), size);
}

}  // namespace modlock::unpack
