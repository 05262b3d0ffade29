#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/store/prune.h"
#include "backends/store/work_directory.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr int kMostAttempts = 100;  // each lost to a cleanup by another process

Descriptor open_directory(const fs::path& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_at(const Descriptor& directory, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(directory.get(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

Result<WorkDirectory> WorkDirectory::make(const fs::path& parent) {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    fs::path path = parent / random_hex(16);
    if (::mkdir(path.c_str(), 0777) != 0) {
      return system_failure("make the directory", path, errno);
    }
    Descriptor held = open_directory(path);
    if (!held.valid() && errno != ENOENT) {
      const int number = errno;
      ::rmdir(path.c_str());
      return system_failure("open the directory", path, number);
    }
    // A cleanup by another process may have come between the two: then the directory is gone or about to be removed. On
    // a file system without locks, the cleanup has none either.
    const bool is_taken = held.valid() && ::flock(held.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!is_taken && is_at(held, path)) {
      return WorkDirectory(std::move(path), std::move(held));
    }
  }
  return system_failure("make the directory", parent, EAGAIN);
}

WorkDirectory::~WorkDirectory() {
  if (held_.valid()) {
    ::rmdir(path_.c_str());
  }
}

bool WorkDirectory::is_gone() const {
  return !is_at(held_, path_);
}

std::uint64_t remove_abandoned_work(const fs::path& parent, std::uint64_t* bytes) {
  std::uint64_t removed = 0;
  for (const fs::path& path : list_directory(parent).value_or(std::vector<fs::path>())) {
    const Descriptor held = open_directory(path);
    if (!held.valid() || ::flock(held.get(), LOCK_EX | LOCK_NB) != 0) {
      continue;
    }
    const std::uint64_t size = bytes != nullptr ? bytes_below(path).value_or(0) : 0;
    if (remove_tree(path)) {
      ++removed;
      if (bytes != nullptr) {
        *bytes += size;
      }
    }
  }
  return removed;
}

}  // namespace modlock
