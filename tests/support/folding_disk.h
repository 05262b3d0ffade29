#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <stdexcept>

#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// A file system at `where` that folds case and normalizes names (folding_file_system.cpp).
class FoldingDisk {
 public:
  explicit FoldingDisk(std::filesystem::path where) : path_(std::move(where)) {
    std::filesystem::create_directories(path_);
    try {
      run({MODLOCK_FOLDING_FILE_SYSTEM, directory_.path().string(), path_.string()});
      mounted_ = true;
    } catch (const std::runtime_error&) {
      mounted_ = false;
    }
  }
  ~FoldingDisk() {
    if (mounted_) {
      ::umount2(path_.c_str(), MNT_DETACH);
    }
  }
  FoldingDisk(const FoldingDisk&) = delete;
  FoldingDisk& operator=(const FoldingDisk&) = delete;

  bool mounted() const { return mounted_; }

 private:
  TemporaryDirectory directory_;
  std::filesystem::path path_;
  bool mounted_ = false;
};

}  // namespace modlock::test
