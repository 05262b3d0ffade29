#pragma once

#include <filesystem>

#include "backends/base/context.h"
#include "backends/base/descriptor.h"

namespace modlock {

// Holds a file against other processes and other threads of this one, as long as the object lives. The kernel lets go
// of it when a process dies.
class FileLock {
 public:
  // Waits until the lock is free. Errors: IO_ERROR naming the file; REQUEST_CANCELLED, DEADLINE_EXCEEDED.
  static Result<FileLock> acquire(const std::filesystem::path& path, const Context& context);

 private:
  explicit FileLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;
};

}  // namespace modlock
