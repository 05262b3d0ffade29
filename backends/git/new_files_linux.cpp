#include "backends/git/new_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "backends/base/descriptor.h"
#include "backends/base/files.h"
#include "backends/git/checkout.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

// Returns 0 or the errno of the failed call.
int write_new_file(const fs::path& path, std::string_view bytes, mode_t mode) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!file.valid()) {
    return errno;
  }
  return write_all(file.get(), bytes);
}

}  // namespace

Result<void> WorkTree::write_file(const std::string& path, std::string_view bytes, bool is_executable) {
  MODLOCK_TRY(make_parents(path));
  const mode_t mode = is_executable ? 0777 : 0666;  // less the umask
  const int reason = write_new_file(directory_ / path, bytes, mode);
  return reason == 0 ? Result<void>() : system_failure("write", shown_path(path), reason);
}

Result<void> WorkTree::write_link(const std::string& path, std::string_view target) {
  MODLOCK_TRY(make_parents(path));
  const std::string text(target.substr(0, target.find('\0')));
  const fs::path link = directory_ / path;
  if (::symlink(text.c_str(), link.c_str()) == 0) {
    return {};
  }
  const int reason = errno;
  const bool is_impossible = reason == ENAMETOOLONG || text.empty();
  return is_impossible ? fail(Code::archive_unsafe, "no link can have this target")
                       : system_failure("write", shown_path(path), reason);
}

Result<void> WorkTree::make_directory(const std::string& path) {
  return make_parents(path + '/');
}

Result<void> WorkTree::make_parents(const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string_view parent = std::string_view(path).substr(0, slash);
    if (made_.find(parent) != made_.end()) {
      continue;
    }
    const fs::path target = directory_ / parent;
    if (::mkdir(target.c_str(), 0777) != 0) {
      return system_failure("make", shown_path(parent), errno);
    }
    made_.emplace(parent);
  }
  return {};
}

}  // namespace modlock::git
