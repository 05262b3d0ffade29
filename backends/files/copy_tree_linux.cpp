#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "backends/files/descriptor.h"
#include "backends/files/files.h"
#include "backends/files/system_error.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kKeptMode = 0777;
constexpr std::size_t kPiece = std::size_t{128} << 10U;
constexpr std::size_t kLargestRange = std::size_t{1} << 30U;

int copy_by_hand(int from, int to) {
  std::array<char, kPiece> piece;  // not filled: most of the time there is nothing left to read
  for (;;) {
    const ssize_t got = ::read(from, piece.data(), piece.size());
    if (got == 0) {
      return 0;
    }
    if (got < 0 && errno != EINTR) {
      return errno;
    }
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::write(to, piece.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0 && errno != EINTR) {
        return errno;
      }
      done += std::max<ssize_t>(put, 0);
    }
  }
}

// What a kernel or file system says that cannot do it between these two files.
bool is_not_offered(int reason) {
  return reason == EXDEV || reason == EINVAL || reason == ENOSYS || reason == EOPNOTSUPP || reason == EPERM ||
         reason == EBADF || reason == ETXTBSY;
}

int copy_content(int from, int to) {
  if (::ioctl(to, FICLONE, from) == 0) {
    return 0;
  }
  for (;;) {
    const ssize_t copied = ::copy_file_range(from, nullptr, to, nullptr, kLargestRange, 0);
    if (copied > 0 || (copied < 0 && errno == EINTR)) {
      continue;
    }
    // Some file systems report an end where there is none: what is left, if anything, is read.
    return copied == 0 || is_not_offered(errno) ? copy_by_hand(from, to) : errno;
  }
}

Result<void> copy_file(const fs::path& from, const fs::path& to, mode_t mode) {
  const Descriptor source(::open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!source.valid()) {
    return system_failure("read", from, errno);
  }
  const Descriptor target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!target.valid()) {
    return system_failure("write", to, errno);
  }
  if (const int reason = copy_content(source.get(), target.get()); reason != 0) {
    return system_failure("write", to, reason);
  }
  if (::fchmod(target.get(), mode & kKeptMode) != 0) {
    return system_failure("set the mode of", to, errno);
  }
  return {};
}

Result<void> copy_link(const fs::path& from, const fs::path& to) {
  std::error_code error;
  const fs::path target = fs::read_symlink(from, error);
  if (error) {
    return system_failure("read the link", from, error.value());
  }
  if (::symlink(target.c_str(), to.c_str()) != 0) {
    return system_failure("write", to, errno);
  }
  return {};
}

Result<void> copy_entry(const fs::path& from, const fs::path& to);

Result<void> copy_directory(const fs::path& from, const fs::path& to, mode_t mode) {
  if (::mkdir(to.c_str(), S_IRWXU) != 0) {
    return system_failure("make the directory", to, errno);
  }
  std::error_code error;
  for (fs::directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
    const fs::path name = at->path().filename();
    if (is_version_control_name(name.native())) {
      continue;
    }
    if (auto ok = copy_entry(at->path(), to / name); !ok) {
      return ok;
    }
  }
  if (error) {
    return system_failure("read the directory", from, error.value());
  }
  // Only now: a directory may be one that nobody may write to.
  if (::chmod(to.c_str(), mode & kKeptMode) != 0) {
    return system_failure("set the mode of", to, errno);
  }
  return {};
}

Result<void> copy_entry(const fs::path& from, const fs::path& to) {
  struct stat found {};
  if (::lstat(from.c_str(), &found) != 0) {
    return system_failure("read", from, errno);
  }
  switch (found.st_mode & S_IFMT) {
    case S_IFREG:
      return copy_file(from, to, found.st_mode);
    case S_IFLNK:
      return copy_link(from, to);
    case S_IFDIR:
      return copy_directory(from, to, found.st_mode);
    default:
      return fail(Code::io_error,
                  fmt::format("cannot copy \"{}\": neither a file nor a directory nor a link", from.string()));
  }
}

}  // namespace

Result<void> copy_tree(const fs::path& from, const fs::path& to) {
  struct stat found {};
  if (::stat(from.c_str(), &found) != 0) {
    return system_failure("read", from, errno);
  }
  if (!S_ISDIR(found.st_mode)) {
    return system_failure("read the directory", from, ENOTDIR);
  }
  if (struct stat there{}; ::lstat(to.c_str(), &there) == 0) {
    return system_failure("make the directory", to, EEXIST);
  }
  auto copied = copy_directory(from, to, found.st_mode);
  if (!copied) {
    (void)remove_tree(to);
  }
  return copied;
}

}  // namespace modlock
