#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock::git {

// Writes the entries of one tree into a new directory, with the modes that git gives them. The names must be those of a
// tree without hostile entries (objects.h): no two are alike, and none points outside. Errors: IO_ERROR naming the
// entry.
class WorkTree {
 public:
  // `directory` must exist and be empty.
  explicit WorkTree(std::filesystem::path directory) : directory_(std::move(directory)) {}

  Result<void> write_file(const std::string& path, std::string_view bytes, bool is_executable);
  // Also ARCHIVE_UNSAFE for a target that no symbolic link can have; the caller must write its message.
  Result<void> write_link(const std::string& path, std::string_view target);
  Result<void> make_directory(const std::string& path);

 private:
  Result<void> make_parents(const std::string& path);

  std::filesystem::path directory_;
  std::set<std::string, std::less<>> made_;  // directories below it
};

}  // namespace modlock::git
