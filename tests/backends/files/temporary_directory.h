#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "backends/crypto/digest.h"
#include "backends/files/files.h"

namespace modlock::test {

// A new directory that goes away with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(std::filesystem::canonical(std::filesystem::temp_directory_path())) {
    path_ /= "modlock-test-" + random_hex(8);
    std::filesystem::create_directory(path_);
  }
  ~TemporaryDirectory() { (void)remove_tree(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Writes a file and the directories above it.
inline void put(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace modlock::test
