#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/deleter.h"
#include "backends/base/descriptor.h"
#include "backends/base/files.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> names_in(int directory, const fs::path& path) {
  Descriptor copy(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, Deleter<::closedir>> listed(copy.valid() ? ::fdopendir(copy.get()) : nullptr);
  if (!listed) {
    return errno == ENOENT ? Result<std::vector<std::string>>() : system_failure("read the directory", path, errno);
  }
  copy.release();
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(listed.get())) {
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  if (errno != 0 && errno != ENOENT) {
    return system_failure("read the directory", path, errno);
  }
  return names;
}

// Removes by descriptors, so that a directory that is replaced by a link is not followed. `path` is for messages.
// Another process may be removing the same tree.
Result<void> remove_entry(int parent, const char* name, const fs::path& path) {
  struct stat found {};
  if (::fstatat(parent, name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? Result<void>() : system_failure("remove", path, errno);
  }
  if (!S_ISDIR(found.st_mode)) {
    return ::unlinkat(parent, name, 0) == 0 || errno == ENOENT ? Result<void>() : system_failure("remove", path, errno);
  }
  constexpr mode_t kNeeded = S_IRUSR | S_IWUSR | S_IXUSR;
  if ((found.st_mode & kNeeded) != kNeeded) {
    ::fchmodat(parent, name, (found.st_mode | kNeeded) & 07777U, AT_SYMLINK_NOFOLLOW);
  }
  const Descriptor directory(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory.valid()) {
    return errno == ENOENT ? Result<void>() : system_failure("read the directory", path, errno);
  }
  MODLOCK_TRY(const auto children, names_in(directory.get(), path));
  for (const std::string& child : children) {
    MODLOCK_TRY(remove_entry(directory.get(), child.c_str(), path / child));
  }
  if (::unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return system_failure("remove", path, errno);
  }
  return {};
}

}  // namespace

Result<void> remove_tree(const fs::path& path) {
  return remove_entry(AT_FDCWD, path.c_str(), path);
}

}  // namespace modlock
