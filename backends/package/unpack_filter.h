#pragma once

#include <memory>
#include <string_view>

#include "backends/package/byte_source.h"
#include "backends/package/unpack.h"

namespace modlock::unpack {

// What a file compressed with gzip (tar_gz) or bzip2 (tar_bz2) holds. Errors: BAD_RESPONSE (not compressed, otherwise
// or more than once; damaged or truncated); IO_ERROR; those of `packed`.
std::unique_ptr<ByteSource> filtered_bytes(ArchiveFormat format, std::unique_ptr<ByteSource> packed,
                                           std::string_view display);

}  // namespace modlock::unpack
