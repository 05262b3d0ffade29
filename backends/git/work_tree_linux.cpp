#include "backends/git/work_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "backends/base/descriptor.h"
#include "backends/base/system_error.h"
#include "backends/git/checkout.h"

namespace modlock::git {

Result<void> WorkTree::write_file(const std::string& path, std::string_view bytes, bool is_executable) {
  if (auto made = make_parents(path); !made) {
    return made;
  }
  const std::filesystem::path target = directory_ / path;
  const mode_t mode = is_executable ? 0777 : 0666;  // less the umask
  const Descriptor file(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!file.valid()) {
    return system_failure("write", shown_path(path), errno);
  }
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return system_failure("write", shown_path(path), errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> WorkTree::write_link(const std::string& path, std::string_view target) {
  if (auto made = make_parents(path); !made) {
    return made;
  }
  const std::string text(target.substr(0, target.find('\0')));
  const std::filesystem::path link = directory_ / path;
  if (::symlink(text.c_str(), link.c_str()) == 0) {
    return {};
  }
  const int reason = errno;
  const bool is_impossible = reason == ENAMETOOLONG || text.empty();
  return is_impossible ? fail(Code::archive_unsafe, "no link can have this target")
                       : system_failure("write", shown_path(path), reason);
}

Result<void> WorkTree::make_directory(const std::string& path) {
  if (made_.find(path) != made_.end()) {
    return {};
  }
  if (auto made = make_parents(path); !made) {
    return made;
  }
  const std::filesystem::path target = directory_ / path;
  if (::mkdir(target.c_str(), 0777) != 0) {
    return system_failure("make", shown_path(path), errno);
  }
  made_.insert(path);
  return {};
}

Result<void> WorkTree::make_parents(const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string_view parent = std::string_view(path).substr(0, slash);
    if (made_.find(parent) != made_.end()) {
      continue;
    }
    const std::filesystem::path target = directory_ / parent;
    if (::mkdir(target.c_str(), 0777) != 0) {
      return system_failure("make", shown_path(parent), errno);
    }
    made_.emplace(parent);
  }
  return {};
}

}  // namespace modlock::git
