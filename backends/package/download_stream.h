#pragma once

#include <fstream>
#include <vector>

#include "backends/package/byte_source.h"
#include "backends/package/streamed_file.h"

namespace modlock::unpack {

// The bytes of a file that may still be arriving. Errors: IO_ERROR; those of StreamedFile::wait_for().
class DownloadStream final : public ByteSource {
 public:
  // `file` outlives the object.
  explicit DownloadStream(const StreamedFile& file) : source_(file) {}

  Result<std::string_view> next() override;

 private:
  const StreamedFile& source_;
  std::ifstream file_;
  std::uint64_t at_ = 0;
  std::vector<char> piece_;
};

}  // namespace modlock::unpack
