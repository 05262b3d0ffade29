#pragma once

#include <memory>
#include <string_view>

#include "backends/package/byte_source.h"

namespace modlock::unpack {

// What an xz file holds. libarchive's own filter lets a file claim as much memory as it likes; this one stays below
// 128 MiB, which `xz -9` needs half of. Errors: BAD_RESPONSE (no xz file, damaged or truncated); ARCHIVE_UNSAFE (more
// memory); IO_ERROR; those of `packed`.
std::unique_ptr<ByteSource> xz_bytes(std::unique_ptr<ByteSource> packed, std::string_view display);

}  // namespace modlock::unpack
