#pragma once

#include <filesystem>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock::git {

// A file in the directory for temporary files that nobody but its owner may read, for programs that take a secret by
// file only. Removed with the object.
class PrivateFile {
 public:
  // Errors: IO_ERROR naming the directory and the reason.
  static Result<PrivateFile> create(std::string_view content);

  ~PrivateFile();
  PrivateFile(PrivateFile&& other) noexcept;
  PrivateFile& operator=(PrivateFile&&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFile(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace modlock::git
