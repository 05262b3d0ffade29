#pragma once

#include <cstdint>
#include <filesystem>

#include "backends/base/descriptor.h"
#include "protocol/base/result.h"

namespace modlock {

// A directory of one process for work that is not finished. It is locked as long as the object lives, and the kernel
// lets go of it when the process dies: that tells what is abandoned, in containers with process ids of their own too.
class WorkDirectory {
 public:
  // Makes one with a new name below `parent`, which exists. Errors: IO_ERROR.
  static Result<WorkDirectory> make(const std::filesystem::path& parent);

  WorkDirectory(WorkDirectory&&) = default;
  WorkDirectory& operator=(WorkDirectory&&) = delete;
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  // Removes the directory where nothing is left in it.
  ~WorkDirectory();

  const std::filesystem::path& path() const { return path_; }
  // Whether somebody has removed it meanwhile.
  bool is_gone() const;

 private:
  WorkDirectory(std::filesystem::path path, Descriptor held) : path_(std::move(path)), held_(std::move(held)) {}

  std::filesystem::path path_;
  Descriptor held_;
};

// Removes the directories below `parent` that nobody holds any more. Returns how many; what cannot be removed stays.
// Where bytes is given, their bytes are added to it.
std::uint64_t remove_abandoned_work(const std::filesystem::path& parent, std::uint64_t* bytes = nullptr);

}  // namespace modlock
