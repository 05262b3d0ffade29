#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "backends/base/descriptor.h"
#include "protocol/base/result.h"

namespace modlock {

// A file with secrets for another program: mode 0600, in a directory of its own, mode 0700, below the directory for
// temporary files. The directory is removed with the object. If the process is killed, they stay until the next
// remove_abandoned(): the directory is locked while its process is alive. Movable.
class PrivateFile {
 public:
  // Removes the files that killed processes of this user left behind. Each command calls it when it starts.
  static void remove_abandoned();
  // `content` gets the directory, and may put more files and directories there. Errors: IO_ERROR; those of `content`.
  using Content = std::function<Result<std::string>(const std::filesystem::path& directory)>;
  static Result<PrivateFile> create(std::string_view name, const Content& content);
  static Result<PrivateFile> create(std::string_view name, std::string_view content) {
    return create(name, [&](const auto&) { return Result<std::string>(content); });
  }
  ~PrivateFile();
  PrivateFile(PrivateFile&& other) noexcept : path_(std::move(other.path_)), held_(std::move(other.held_)) {
    other.path_.clear();
  }
  PrivateFile& operator=(PrivateFile&&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  PrivateFile(std::filesystem::path path, Descriptor held) : path_(std::move(path)), held_(std::move(held)) {}
  std::filesystem::path path_;
  Descriptor held_;  // the directory
};

}  // namespace modlock
