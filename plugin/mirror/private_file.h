#pragma once

#include <filesystem>
#include <string_view>

#include "protocol/result.h"

namespace modlock {

// A file with secrets that another program is to read: 0600, in a directory of its own, 0700, below the directory for
// temporary files. Both go with the object. Movable.
class PrivateFile {
 public:
  // Errors: IO_ERROR.
  static Result<PrivateFile> create(std::string_view name, std::string_view content);
  ~PrivateFile();
  PrivateFile(PrivateFile&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  PrivateFile& operator=(PrivateFile&&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFile(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace modlock
