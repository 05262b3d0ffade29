#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <optional>
#include <string_view>

#include "backends/base/deleter.h"
#include "backends/package/byte_source.h"
#include "protocol/base/result.h"

namespace modlock::unpack {

// libarchive at work on a stream of bytes.
class LibraryReader {
 public:
  explicit LibraryReader(std::unique_ptr<ByteSource> source);
  LibraryReader(const LibraryReader&) = delete;
  LibraryReader& operator=(const LibraryReader&) = delete;

  // Null where there is no memory.
  archive* get() const { return archive_.get(); }

  enum class Opened { yes, other_format, no };
  // Once the formats and filters are chosen. Reads the first bytes.
  Opened open();

  // What the last call failed of: the error of the source, where it had one; else what libarchive says, BAD_RESPONSE or
  // IO_ERROR.
  tl::unexpected<Error> failure(std::string_view display);

 private:
  static la_ssize_t read(archive* opened, void* self, const void** piece);

  std::unique_ptr<ByteSource> source_;
  std::optional<Error> source_failure_;
  std::unique_ptr<archive, Deleter<archive_read_free>> archive_;
};

}  // namespace modlock::unpack
