#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "backends/base/deleter.h"
#include "backends/base/descriptor.h"
#include "backends/base/digest.h"
#include "backends/base/entry_name.h"
#include "backends/base/files.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFile = 0644;
constexpr mode_t kExecutable = 0755;  // also of directories
constexpr std::size_t kCopyPiece = std::size_t{128} << 10U;

class Copier {
 public:
  Copier(FileDigests* digests, const std::set<fs::path>& left_out) : digests_(digests), left_out_(left_out) {}

  Result<void> copy_directory(const fs::path& from, const fs::path& to) {
    if (::mkdir(to.c_str(), S_IRWXU) != 0) {
      return system_failure("make the directory", to, errno);
    }
    std::error_code error;
    for (fs::directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
      const fs::path name = at->path().filename();
      if (is_git_entry(name.native()) || is_left_out(at->path())) {
        continue;
      }
      if (const auto disguised = disguised_name(name.native())) {
        return fail(Code::archive_unsafe,
                    fmt::format("the entry \"{}\" {}", at->path().string(), fmt::format(kDisguised, *disguised)),
                    "ask the author of the package to remove the entry");
      }
      MODLOCK_TRY(copy_entry(at->path(), to / name));
    }
    if (error) {
      return system_failure("read the directory", from, error.value());
    }
    if (::chmod(to.c_str(), kExecutable) != 0) {
      return system_failure("set the mode of", to, errno);
    }
    return {};
  }

 private:
  bool is_left_out(const fs::path& entry) const {
    std::error_code ignored;
    return std::ranges::any_of(left_out_, [&](const fs::path& one) {
      return one.is_absolute() ? fs::equivalent(entry, one, ignored) : entry.filename() == one;
    });
  }

  Result<void> copy_entry(const fs::path& from, const fs::path& to) {
    struct stat found {};
    if (::lstat(from.c_str(), &found) != 0) {
      return system_failure("read", from, errno);
    }
    switch (found.st_mode & S_IFMT) {
      case S_IFREG:
        return copy_file(from, to, found);
      case S_IFLNK: {
        std::error_code error;
        fs::copy_symlink(from, to, error);
        return error ? system_failure("write", to, error.value()) : Result<void>();
      }
      case S_IFDIR:
        return copy_directory(from, to);
      default:
        return fail(Code::io_error,
                    fmt::format("cannot copy \"{}\": neither a file nor a directory nor a link", from.string()));
    }
  }

  Result<void> copy_file(const fs::path& from, const fs::path& to, const struct stat& found) {
    const Descriptor source(::open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!source.valid()) {
      return system_failure("read", from, errno);
    }
    const Descriptor target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!target.valid()) {
      return system_failure("write", to, errno);
    }
    // If the file system cannot clone one file of a package, it cannot clone the others.
    may_clone_ = may_clone_ && ::ioctl(target.get(), FICLONE, source.get()) == 0;
    if (!may_clone_) {
      Sha256 sha;
      const int reason = copy_content(source.get(), target.get(), static_cast<std::size_t>(found.st_size),
                                      digests_ == nullptr ? nullptr : &sha);
      if (reason != 0) {
        return system_failure("write", to, reason);
      }
      if (digests_ != nullptr) {
        digests_->emplace(to.string(), sha.finish());
      }
    }
    if (::fchmod(target.get(), (found.st_mode & S_IXUSR) != 0 ? kExecutable : kFile) != 0) {
      return system_failure("set the mode of", to, errno);
    }
    return {};
  }

  // Returns 0 or an errno.
  int copy_content(int from, int to, std::size_t size, Sha256* sha) const {
    for (std::size_t total = 0;;) {
      const ssize_t got = ::read(from, piece_.get(), kCopyPiece);
      if (got < 0 && errno != EINTR) {
        return errno;
      }
      const std::string_view bytes(piece_.get(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (sha != nullptr) {
        sha->update(bytes);
      }
      if (const int reason = write_all(to, bytes); reason != 0) {
        return reason;
      }
      total += bytes.size();
      // No process writes to a package: once its size has been read, no further read is needed.
      if (got == 0 || (got > 0 && total == size)) {
        return 0;
      }
    }
  }

  FileDigests* digests_;
  const std::set<fs::path>& left_out_;
  bool may_clone_ = true;
  const std::unique_ptr<char[]> piece_{new char[kCopyPiece]};
};

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

Result<void> copy_tree(const fs::path& from, const fs::path& to, FileDigests* digests,
                       const std::set<fs::path>& left_out) {
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
  auto copied = Copier(digests, left_out).copy_directory(from, to);
  if (!copied) {
    (void)remove_tree(to);
  }
  return copied;
}

Result<void> remove_tree(const fs::path& path) {
  return remove_entry(AT_FDCWD, path.c_str(), path);
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0) {
    return system_failure("read", path, errno);
  }
  MappedFile mapped;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    return mapped;
  }
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) {
    return system_failure("read", path, errno);
  }
  mapped.mapping_ = std::shared_ptr<void>(address, [size](void* begin) { ::munmap(begin, size); });
  mapped.content_ = {static_cast<const char*>(address), size};
  return mapped;
}

void release_pages(std::string_view bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) / page * page;
  if (begin < end) {
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_PAGEOUT);  // unlike MADV_DONTNEED, loses nothing
  }
}

}  // namespace modlock
