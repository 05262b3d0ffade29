#pragma once

#include <fstream>
#include <vector>

#include "backends/package/arriving_file.h"
#include "backends/package/byte_source.h"

namespace modlock::unpack {

// The bytes of a file that may still be arriving. Errors: IO_ERROR; those of ArrivingFile::wait_for().
class ArrivingBytes final : public ByteSource {
 public:
  // `file` outlives the object.
  explicit ArrivingBytes(const ArrivingFile& file) : source_(file) {}

  Result<std::string_view> next() override;

 private:
  const ArrivingFile& source_;
  std::ifstream file_;
  std::uint64_t at_ = 0;
  std::vector<char> piece_;
};

}  // namespace modlock::unpack
