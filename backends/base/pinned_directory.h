#pragma once

#include <filesystem>
#include <string>

#include "backends/base/descriptor.h"
#include "protocol/base/result.h"

namespace modlock {

// A directory that is held open. What is done below path() is done in this directory, even if its name, or a name on
// the way to it, is replaced by a link in the meantime.
class PinnedDirectory {
 public:
  // Opens the directory `relative` below `base`. `base` may be reached through links; no part of `relative` may be a
  // link or "..". Errors: IO_ERROR naming the directory.
  static Result<PinnedDirectory> open(const std::filesystem::path& base, const std::filesystem::path& relative);
  // The same, and makes the directories below `base` that are missing.
  static Result<PinnedDirectory> open_or_make(const std::filesystem::path& base, const std::filesystem::path& relative);
  // Makes the directory `name`, which must not exist, with the mode 0700. Errors: IO_ERROR naming it.
  Result<PinnedDirectory> make(const std::string& name) const;

  // A path that leads to this directory only, as long as the object lives: "/proc/self/fd/<number>"; without /proc the
  // real path.
  const std::filesystem::path& path() const { return path_; }
  // The path that the directory had when it was opened, for messages.
  const std::filesystem::path& real_path() const { return real_path_; }
  // Replaces path() by real_path() in the texts of an error.
  Error with_real_path(Error error) const;

 private:
  PinnedDirectory(Descriptor descriptor, std::filesystem::path real_path);

  Descriptor descriptor_;
  std::filesystem::path real_path_;
  std::filesystem::path path_;
};

}  // namespace modlock
