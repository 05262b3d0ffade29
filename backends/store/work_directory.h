#pragma once

#include <cstdint>
#include <filesystem>

#include "backends/base/descriptor.h"
#include "protocol/base/result.h"

namespace modlock {

// A directory of one process for unfinished work. It is locked while the object lives, and the kernel releases the lock
// when the process dies. So abandoned directories can be recognized even in containers with their own process ids.
class WorkDirectory {
 public:
  // Makes a directory with a new name below `parent`, which must exist. Errors: IO_ERROR.
  static Result<WorkDirectory> make(const std::filesystem::path& parent);

  WorkDirectory(WorkDirectory&&) = default;
  WorkDirectory& operator=(WorkDirectory&&) = delete;
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  // Removes the directory if it is empty.
  ~WorkDirectory();

  const std::filesystem::path& path() const { return path_; }
  // Returns whether the directory was removed from outside.
  bool is_gone() const;

 private:
  WorkDirectory(std::filesystem::path path, Descriptor held) : path_(std::move(path)), held_(std::move(held)) {}

  std::filesystem::path path_;
  Descriptor held_;
};

// Removes the directories below `parent` that no process has locked, and returns how many. Directories that cannot be
// removed are skipped. Adds the removed bytes to `bytes` if it is given.
std::uint64_t remove_abandoned_work(const std::filesystem::path& parent, std::uint64_t* bytes = nullptr);

}  // namespace modlock
