#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

#include "backends/base/context.h"
#include "backends/base/descriptor.h"

namespace modlock {

// How long to wait for a lock, and when to report the wait.
struct LockPatience {
  std::chrono::milliseconds until_told{1000};
  std::chrono::milliseconds limit{std::chrono::minutes{5}};
  // Called once, after `until_told`, with the id of the process that holds the lock; 0 if the file does not contain it.
  std::function<void(long holder)> tell = {};
};

// Locks a file against other processes and other threads of this one for the lifetime of the object. The kernel
// releases the lock when a process dies.
class FileLock {
 public:
  // Waits until the lock is free. With `patience`, the file contains the id of the process that holds it, and the wait
  // is limited. Errors: IO_ERROR naming the file; REQUEST_CANCELLED, DEADLINE_EXCEEDED; TIMEOUT.
  static Result<FileLock> acquire(const std::filesystem::path& path, const Context& context,
                                  const LockPatience* patience = nullptr);

  FileLock(FileLock&&) = default;
  FileLock& operator=(FileLock&&) = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  FileLock(Descriptor descriptor, bool is_named) : descriptor_(std::move(descriptor)), is_named_(is_named) {}
  Descriptor descriptor_;
  bool is_named_;
};

}  // namespace modlock
