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

// A file that one thread writes while others read it under its path. What they wait for always comes: the writer ends
// by complete() or abandon().
class StreamedFile {
 public:
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

  explicit StreamedFile(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }

  // For the writer. What is written can be read in large pieces at once, at the latest when it is complete. Errors:
  // IO_ERROR.
  Result<void> create();
  Result<void> write(std::string_view bytes);
  Result<void> complete();
  // Instead of all that: the file is there, with all of its bytes. Errors: IO_ERROR.
  Result<void> adopt();
  // Whoever waits gives up.
  void abandon();

  // For readers: waits until the file has `size` bytes or is complete, and returns how many it has. Errors:
  // REQUEST_CANCELLED (abandoned).
  Result<std::uint64_t> wait_for(std::uint64_t size) const;

 private:
  enum class State { arriving, complete, abandoned };

  Result<void> publish();
  Result<void> written() const;

  std::filesystem::path path_;
  std::ofstream file_;   // the writer's alone
  std::string pending_;  // the writer's alone
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::uint64_t size_ = 0;  // this and what follows: under the mutex
  State state_ = State::arriving;
};

}  // namespace modlock
