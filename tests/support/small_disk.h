#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_directory.h"

namespace modlock::test {

// A file system of some KiB in memory, where the tests run as a user that may mount one. It can be made read-only,
// which root respects as it does no mode.
class SmallDisk {
 public:
  SmallDisk() : path_(directory_ / "disk") { mount(64); }
  SmallDisk(std::filesystem::path where, std::size_t kib) : path_(std::move(where)) { mount(kib); }
  ~SmallDisk() {
    if (mounted_) {
      ::umount2(path_.c_str(), MNT_DETACH);
    }
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  bool make_read_only() const { return ::mount("none", path_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0; }
  // Leaves no room.
  void fill() const {
    const std::string block(4096, 'x');
    for (int i = 0; std::ofstream(path_ / ("filler" + std::to_string(i))) << block << std::flush; ++i) {
    }
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  void mount(std::size_t kib) {
    std::filesystem::create_directories(path_);
    const std::string size = "size=" + std::to_string(kib) + "k";
    mounted_ = ::mount("none", path_.c_str(), "tmpfs", 0, size.c_str()) == 0;
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_;
  bool mounted_ = false;
};

}  // namespace modlock::test
