#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace modlock::test {

// A new directory of its own, removed with everything in it. Throws std::runtime_error where it cannot be made.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  // Writes a whole file below, making its directories.
  void write(std::string_view name, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

// Writes a whole file, making its directory where needed.
void write_text(const std::filesystem::path& path, std::string_view text);
// Reads a whole file; throws std::runtime_error where it cannot.
std::string read_text(const std::filesystem::path& path);
// The text of a lock file with module blocks as a sidecar has it: with the header that names tofu-modlock too.
std::string as_sidecar(std::string lock);
// The permission bits of what is there, a link itself too; throws std::runtime_error where there is nothing.
mode_t mode_of(const std::filesystem::path& path);

}  // namespace modlock::test
