#include "backends/git/new_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "backends/base/descriptor.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/git/checkout.h"
#include "protocol/base/system_reason.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> unwritten(const fs::path& path, int reason) {
  return fail(Code::io_error,
              fmt::format("no file for a key can be written below \"{}\": {}", path.parent_path().string(),
                          system_reason(reason)),
              "make room there, or name another directory in TMPDIR");
}

// Returns 0 or the errno of the failed call.
int write_new_file(const fs::path& path, std::string_view bytes, mode_t mode) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!file.valid()) {
    return errno;
  }
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return 0;
}

}  // namespace

Result<PrivateFile> PrivateFile::create(std::string_view content) {
  std::error_code failed;
  const fs::path directory = fs::temp_directory_path(failed);
  PrivateFile file(directory / ("modlock-" + random_hex(16)));
  if (const int reason = write_new_file(file.path(), content, 0600); reason != 0) {
    return unwritten(file.path(), reason);
  }
  return file;
}

PrivateFile::~PrivateFile() {
  std::error_code ignored;
  if (!path_.empty()) {
    fs::remove(path_, ignored);
  }
}

PrivateFile::PrivateFile(PrivateFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}

Result<void> WorkTree::write_file(const std::string& path, std::string_view bytes, bool is_executable) {
  if (auto made = make_parents(path); !made) {
    return made;
  }
  const mode_t mode = is_executable ? 0777 : 0666;  // less the umask
  const int reason = write_new_file(directory_ / path, bytes, mode);
  return reason == 0 ? Result<void>() : system_failure("write", shown_path(path), reason);
}

Result<void> WorkTree::write_link(const std::string& path, std::string_view target) {
  if (auto made = make_parents(path); !made) {
    return made;
  }
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
  if (made_.find(path) != made_.end()) {
    return {};
  }
  if (auto made = make_parents(path); !made) {
    return made;
  }
  const fs::path target = directory_ / path;
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
    const fs::path target = directory_ / parent;
    if (::mkdir(target.c_str(), 0777) != 0) {
      return system_failure("make", shown_path(parent), errno);
    }
    made_.emplace(parent);
  }
  return {};
}

}  // namespace modlock::git
