#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// A file that one thread writes while others read it by its path. Waiting readers always continue, because the writer
// ends with complete() or abandon().
class StreamedFile {
 public:
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

  explicit StreamedFile(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }

  // For the writer. Written bytes become readable in large pieces, at the latest when the file is complete. Errors:
  // IO_ERROR.
  Result<void> create();
  Result<void> write(std::string_view bytes);
  Result<void> complete();
  // Alternative to the three above: the file already exists with all its bytes. Errors: IO_ERROR.
  Result<void> adopt();
  // Makes all waiting readers fail.
  void abandon();

  // For readers: waits until the file has `size` bytes or is complete, and returns its number of bytes. Errors:
  // REQUEST_CANCELLED (abandoned).
  Result<std::uint64_t> wait_for(std::uint64_t size) const;

 private:
  enum class State { arriving, complete, abandoned };

  Result<void> publish();
  Result<void> written() const;

  std::filesystem::path path_;
  std::ofstream file_;   // only for the writer
  std::string pending_;  // only for the writer
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::uint64_t size_ = 0;  // guarded by the mutex, like state_
  State state_ = State::arriving;
};

}  // namespace modlock
