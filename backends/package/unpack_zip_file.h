#pragma once

#include <zip.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/deleter.h"
#include "backends/package/bounded_buffer.h"
#include "backends/package/buffer_inflater.h"
#include "backends/package/unpack_queue.h"
#include "protocol/base/result.h"

namespace modlock::unpack {

// A zip file as one thread reads it.
class ZipFile {
 public:
  // Errors: BAD_RESPONSE.
  static Result<ZipFile> open(const std::filesystem::path& archive, std::string_view display);

  zip_t* get() const { return zip_.get(); }

  // Unpacks one file, and finishes it. Errors: BAD_RESPONSE (damaged); IO_ERROR; those of UnpackQueue::grow();
  // REQUEST_CANCELLED, DEADLINE_EXCEEDED.
  void unpack(UnpackQueue::FileIndex turn, PendingFile file, UnpackQueue& line, const Context& context);

  // BAD_RESPONSE with what libzip says.
  tl::unexpected<Error> damaged(std::string_view reason) const;

 private:
  ZipFile(zip_t* zip, std::string_view display) : zip_(zip), display_(display) {}

  Result<void> copy(UnpackQueue::FileIndex turn, PendingFile& file, UnpackQueue& line, const Context& context);
  Result<void> copy_piece(std::string_view bytes, UnpackQueue::FileIndex turn, PendingFile& file, UnpackQueue& line,
                          const Context& context);
  // The file unpacked, where it is a small one and in order; nullopt leaves the judgement to libzip.
  std::optional<std::string_view> whole(zip_uint64_t entry);

  std::unique_ptr<zip_t, Deleter<zip_discard>> zip_;
  std::string display_;
  std::vector<char> piece_;
  BoundedBuffer packed_;
  BufferInflater inflater_;
};

}  // namespace modlock::unpack
