#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "backends/base/descriptor.h"
#include "backends/base/files.h"
#include "backends/base/private_file.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tofu-modlock-private-";
constexpr int kMostTries = 8;

// Returns the locked directory; invalid if it is not a directory of this user, was deleted, or is locked by another
// process (with `how` LOCK_NB). The lock of a directory that was removed meanwhile is invalid, too.
Descriptor hold(const fs::path& directory, int how) {
  Descriptor held(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  const bool is_ours = held.valid() && ::fstat(held.get(), &status) == 0 && status.st_uid == ::geteuid() &&
                       ::flock(held.get(), LOCK_EX | how) == 0 && ::fstat(held.get(), &status) == 0 &&
                       status.st_nlink > 0;
  return is_ours ? std::move(held) : Descriptor();
}

}  // namespace

void PrivateFile::remove_abandoned() {
  std::error_code ignored;
  const fs::path parent = fs::temp_directory_path(ignored);
  for (fs::directory_iterator at(parent, ignored), end; !ignored && at != end; at.increment(ignored)) {
    if (!at->path().filename().string().starts_with(kPrefix)) {
      continue;
    }
    const Descriptor held = hold(at->path(), LOCK_NB);  // until deleted: a waiting process then creates another
    if (held.valid()) {
      (void)remove_tree(at->path());
    }
  }
}

Result<PrivateFile> PrivateFile::create(std::string_view name, const Content& content) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    return fail(Code::io_error, fmt::format("there is no directory for temporary files: {}", error.message()),
                "create it, or name another one in TMPDIR");
  }
  const fs::path place = fs::absolute(parent, error);
  std::string directory;
  Descriptor held;
  // Between the two calls another process may treat it as abandoned.
  for (int tries = 0; !held.valid() && tries < kMostTries; ++tries) {
    directory = (place / fmt::format("{}XXXXXX", kPrefix)).string();
    if (::mkdtemp(directory.data()) == nullptr) {
      return system_failure("write", directory, errno);
    }
    held = hold(directory, 0);
    if (!held.valid()) {
      ::rmdir(directory.c_str());
    }
  }
  if (!held.valid()) {
    return fail(Code::io_error, fmt::format("cannot lock {}", directory), "name another directory in TMPDIR");
  }
  PrivateFile made(fs::path(directory) / name, std::move(held));
  MODLOCK_TRY(const auto text, content(directory));
  const Descriptor file(::open(made.path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid() || write_all(file.get(), text) != 0) {
    return system_failure("write", made.path_, errno);
  }
  return made;
}

PrivateFile::~PrivateFile() {
  if (!path_.empty()) {
    (void)remove_tree(path_.parent_path());
  }
}

}  // namespace modlock
