#pragma once

#include <archive.h>

#include <memory>
#include <optional>
#include <string_view>

#include "backends/base/deleter.h"
#include "backends/package/byte_source.h"
#include "backends/package/unpack.h"
#include "protocol/base/result.h"

namespace modlock::unpack {

// A libarchive reader on a stream of bytes.
class LibraryReader {
 public:
  explicit LibraryReader(std::unique_ptr<ByteSource> source);
  LibraryReader(const LibraryReader&) = delete;
  LibraryReader& operator=(const LibraryReader&) = delete;

  // Null if there is not enough memory.
  archive* get() const { return archive_.get(); }

  enum class Opened { yes, other_format, no };
  // Call after choosing formats and filters. Reads the first bytes.
  Opened open();

  // Returns the error of the last call: the source's if it had one, else libarchive's, as BAD_RESPONSE or IO_ERROR.
  tl::unexpected<Error> failure(std::string_view display);

 private:
  static la_ssize_t read(archive* opened, void* self, const void** piece);

  std::unique_ptr<ByteSource> source_;
  std::optional<Error> source_failure_;
  std::unique_ptr<archive, Deleter<archive_read_free>> archive_;
};

// Returns the decompressed bytes of a tar of this format. libarchive's own filter for xz lets a file claim any amount
// of memory; this one stays below 128 MiB, and `xz -9` needs half of that. Errors: BAD_RESPONSE (not compressed,
// compressed with another method or, with gzip and bzip2, more than once; damaged or truncated); ARCHIVE_UNSAFE (more
// memory); IO_ERROR; those of `packed`.
std::unique_ptr<ByteSource> decompressed_bytes(ArchiveFormat format, std::unique_ptr<ByteSource> packed,
                                               std::string_view display);

// The name of its compression in messages: "gzip", "bzip2", "xz".
std::string_view compression_name(ArchiveFormat format);

}  // namespace modlock::unpack
