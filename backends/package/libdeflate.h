#pragma once

#include <libdeflate.h>

#include "backends/base/lazy_library.h"
#include "backends/base/library_names.h"

// What we call of libdeflate, under its names without the prefix. Only packages in zip files need it.
namespace modlock::libdeflate {

inline constexpr LazyLibrary kLibrary(kLibdeflateName);

inline constinit const LazyFunction<decltype(::libdeflate_alloc_decompressor)> alloc_decompressor(
    kLibrary, "libdeflate_alloc_decompressor");
inline constinit const LazyFunction<decltype(::libdeflate_crc32)> crc32(kLibrary, "libdeflate_crc32");
inline constinit const LazyFunction<decltype(::libdeflate_deflate_decompress_ex)> deflate_decompress_ex(
    kLibrary, "libdeflate_deflate_decompress_ex");
inline constinit const LazyFunction<decltype(::libdeflate_free_decompressor)> free_decompressor(
    kLibrary, "libdeflate_free_decompressor");

}  // namespace modlock::libdeflate
