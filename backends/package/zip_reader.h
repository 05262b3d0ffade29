#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backends/base/context.h"
#include "backends/package/buffer_inflater.h"
#include "backends/package/zip_directory.h"
#include "protocol/base/result.h"

namespace modlock {

constexpr std::uint16_t kZipStored = 0;
constexpr std::uint16_t kZipDeflated = 8;
constexpr std::uint16_t kZipEncrypted = 1;  // of ZipEntry::flags

// Reads the files of a zip file by its central directory. Used by one thread at a time.
class ZipReader {
 public:
  ZipReader(const std::filesystem::path& archive, std::uint64_t size, std::string_view display)
      : path_(archive), size_(size), display_(display), file_(archive, std::ios::binary) {}

  // Errors: those of read_zip_directory(); IO_ERROR.
  Result<std::vector<ZipEntry>> entries(const ZipDirectoryLimits& limits);

  // The local header of an entry.
  struct Header {
    std::string name;
    std::uint16_t method = 0;
    std::uint64_t content = 0;  // the offset of the packed bytes, which are all in the file
  };
  // Errors: ARCHIVE_UNSAFE (no header is there, or not all of the packed bytes); IO_ERROR.
  Result<Header> header(const ZipEntry& entry);

  // Unpacks an entry that is stored or deflated, from `at` on, and passes it to `add` in pieces. Errors: BAD_RESPONSE
  // (damaged, another checksum), ARCHIVE_UNSAFE (another size), naming the entry; IO_ERROR; those of `add`;
  // REQUEST_CANCELLED, DEADLINE_EXCEEDED.
  Result<void> unpack(const ZipEntry& entry, std::uint64_t at, const Context& context,
                      const std::function<Result<void>(std::string_view)>& add);

 private:
  Result<void> fill(std::uint64_t at, char* to, std::size_t size);
  Result<std::string> read(std::uint64_t at, std::uint64_t size);
  std::optional<std::string_view> unpack_whole(const ZipEntry& entry, std::uint64_t at);

  const std::filesystem::path path_;
  const std::uint64_t size_;
  const std::string display_;
  std::ifstream file_;
  unpack::BoundedBuffer packed_;
  unpack::BufferInflater inflater_;
};

}  // namespace modlock
