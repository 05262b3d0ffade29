#pragma once

#include <filesystem>
#include <set>
#include <string>
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

// A new directory that the entries of one tree are written into, with the modes that git gives them. Names are those
// of a tree without hostile entries (objects.h): no two alike, none that leads out. Errors: IO_ERROR naming the entry.
class WorkTree {
 public:
  // `directory` is there and empty.
  explicit WorkTree(std::filesystem::path directory) : directory_(std::move(directory)) {}

  Result<void> write_file(const std::string& path, std::string_view bytes, bool is_executable);
  // Also ARCHIVE_UNSAFE: a target that no link can have; the message is for the caller to write.
  Result<void> write_link(const std::string& path, std::string_view target);
  Result<void> make_directory(const std::string& path);

 private:
  Result<void> make_parents(const std::string& path);

  std::filesystem::path directory_;
  std::set<std::string, std::less<>> made_;  // directories below it
};

}  // namespace modlock::git
