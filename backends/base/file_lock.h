#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

#include "backends/base/context.h"
#include "backends/base/descriptor.h"

namespace modlock {

// How long a lock is waited for, and who hears of it.
struct LockPatience {
  std::chrono::milliseconds until_told{1000};
  std::chrono::milliseconds limit{std::chrono::minutes{5}};
  // Called once, after `until_told`, with the process that holds the lock; 0 where the file does not say.
  std::function<void(long holder)> tell = {};
};

// Holds a file against other processes and other threads of this one, as long as the object lives. The kernel lets go
// of it when a process dies.
class FileLock {
 public:
  // Waits until the lock is free. Errors: IO_ERROR naming the file; REQUEST_CANCELLED, DEADLINE_EXCEEDED.
  static Result<FileLock> acquire(const std::filesystem::path& path, const Context& context);
  // The same, of a file that names the process that holds it, for as long as the patience lasts. Errors also: TIMEOUT.
  static Result<FileLock> acquire(const std::filesystem::path& path, const Context& context,
                                  const LockPatience& patience);

  FileLock(FileLock&&) = default;
  FileLock& operator=(FileLock&&) = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  static Result<FileLock> take(const std::filesystem::path& path, const Context& context, const LockPatience* patience);
  FileLock(Descriptor descriptor, bool is_named) : descriptor_(std::move(descriptor)), is_named_(is_named) {}
  Descriptor descriptor_;
  bool is_named_;
};

}  // namespace modlock
