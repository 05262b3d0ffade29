#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// Bytes that are kept to be read again: in memory while they are few, then in a temporary file, which goes with the
// object.
class Spool {
 public:
  // The file appears in `directory`, which is made when it is needed.
  explicit Spool(std::filesystem::path directory) : directory_(std::move(directory)) {}
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  // Errors: IO_ERROR.
  Result<void> write(std::string_view bytes);
  std::uint64_t size() const { return size_; }
  // Fewer bytes at the end. Errors: IO_ERROR.
  Result<std::string> read(std::uint64_t at, std::size_t size);

 private:
  Result<void> open();

  std::filesystem::path directory_;
  std::string memory_;
  std::filesystem::path path_;  // empty: in memory
  std::fstream file_;
  std::uint64_t size_ = 0;
};

}  // namespace modlock
