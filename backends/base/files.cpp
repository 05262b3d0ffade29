#include "backends/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>
#include <vector>

#include "backends/base/descriptor.h"
#include "backends/base/digest.h"
#include "backends/base/entry_name.h"
#include "protocol/base/system_reason.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_to_end(const Descriptor& file, const fs::path& path, std::size_t expected) {
  std::string bytes;
  bytes.resize(expected + 1);  // a spare byte: a read that leaves it free has reached the end of an unchanged file
  std::size_t filled = 0;
  for (;;) {
    if (filled == bytes.size()) {
      bytes.resize(bytes.size() * 2);
    }
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got > 0) {
      filled += static_cast<std::size_t>(got);
    }
    if (got == 0 || (got > 0 && filled == expected)) {
      bytes.resize(filled);
      return bytes;
    }
    if (got < 0 && errno != EINTR) {
      return system_failure("read", path, errno);
    }
  }
}

// Returns 0 or an errno.
int write_and_rename(const fs::path& temporary, const fs::path& path, const std::function<std::string_view()>& next,
                     Durable durable) {
  struct stat before {};
  const bool existed = ::lstat(path.c_str(), &before) == 0;
  if (existed && S_ISDIR(before.st_mode)) {
    return EISDIR;
  }
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.valid()) {
    return errno;
  }
  for (std::string_view piece = next(); !piece.empty(); piece = next()) {
    if (const int reason = write_all(file.get(), piece); reason != 0) {
      return reason;
    }
  }
  if (existed && S_ISREG(before.st_mode) && ::fchmod(file.get(), before.st_mode & 0777U) != 0) {
    return errno;
  }
  if (durable == Durable::yes && ::fsync(file.get()) != 0) {
    return errno;
  }
  file.reset();
  return ::rename(temporary.c_str(), path.c_str()) == 0 ? 0 : errno;
}

// Without this, a power cut may undo the rename. Failure is ignored: not every file system supports it.
void flush_directory(const fs::path& directory) {
  const Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.valid()) {
    ::fsync(opened.get());
  }
}

Result<void> flush(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.valid() && ::fsync(file.get()) == 0 ? Result<void>() : system_failure("write", path, errno);
}

constexpr std::size_t kRandomBytes = 8;

// Returns the start of the names of temporary files. A long name is cut, so that theirs do not exceed the maximum.
std::string temporary_prefix(std::string_view name) {
  return fmt::format(".{}.", name.substr(0, 200));
}

// Returns whether a name has the form of those of temporary files.
bool is_temporary(std::string_view name) {
  constexpr std::size_t kEnd = 1 + 2 * kRandomBytes;
  return name.size() > 1 + kEnd && name.starts_with('.') && name[name.size() - kEnd] == '.' &&
         name.substr(name.size() - kEnd + 1).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

tl::unexpected<Error> system_failure(std::string_view what, const std::filesystem::path& path, int reason) {
  if (const auto other = reason == EEXIST ? name_on_disk(path) : std::nullopt) {
    return fail(
        Code::io_error,
        fmt::format("cannot {} \"{}\": this file system takes \"{}\" for the same name", what, path.string(), *other),
        "use a directory on a file system that keeps the two names apart (Linux: ext4, XFS, Btrfs)");
  }
  const bool is_denied = reason == EACCES || reason == EPERM || reason == EROFS;
  return fail({.code = Code::io_error,
               .message = fmt::format("cannot {} \"{}\": {}", what, path.string(), system_reason(reason)),
               .hint = std::string(system_advice(reason)),
               .reason = is_denied ? Reason::no_access : Reason::none});
}

bool path_exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool path_is_directory(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

Result<std::string> read_file(const fs::path& path) {
  // Without O_NONBLOCK, opening a pipe without a writer would block.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) {
    auto failure = system_failure("read", path, errno);
    failure.value().code = errno == ENOENT || errno == ENOTDIR ? Code::not_found : Code::io_error;
    return failure;
  }
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) {
    return system_failure("read", path, errno);
  }
  if (S_ISCHR(found.st_mode) && found.st_rdev == ::makedev(1, 3)) {
    return std::string();
  }
  if (S_ISDIR(found.st_mode)) {
    return system_failure("read", path, EISDIR);
  }
  if (!S_ISREG(found.st_mode)) {
    return fail(Code::io_error, fmt::format("cannot read \"{}\": not a regular file", path.string()));
  }
  return read_to_end(file, path, static_cast<std::size_t>(found.st_size));
}

std::optional<std::string> read_small_file(const fs::path& path, std::uintmax_t longest) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error)) || fs::file_size(path, error) > longest || error) {
    return std::nullopt;
  }
  auto text = read_file(path);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

Result<void> write_file_atomically(const fs::path& path, std::string_view bytes, Durable durable) {
  return write_file_atomically(
      path, [&] { return std::exchange(bytes, {}); }, durable);
}

Result<void> write_file_atomically(const fs::path& path, const std::function<std::string_view()>& next,
                                   Durable durable) {
  const fs::path directory = parent_of(path);
  const fs::path temporary = directory / (temporary_prefix(path.filename().string()) + random_hex(kRandomBytes));
  if (const int reason = write_and_rename(temporary, path, next, durable); reason != 0) {
    ::unlink(temporary.c_str());
    return system_failure("write", path, reason);
  }
  if (durable == Durable::yes) {
    flush_directory(directory);
  }
  return {};
}

Result<void> rename_durably(const fs::path& from, const fs::path& to) {
  std::error_code error;
  std::vector<fs::path> paths = {from};
  for (fs::recursive_directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
    paths.push_back(at->path());
  }
  for (const fs::path& path : paths) {
    if (fs::is_directory(path, error)) {
      flush_directory(path);
    } else {
      MODLOCK_TRY(flush(path));
    }
  }
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return system_failure("write", to, errno);
  }
  flush_directory(parent_of(to));
  return {};
}

void remove_unfinished_writes(const fs::path& directory, std::string_view name) {
  const std::string prefix = name.empty() ? "." : temporary_prefix(name);
  std::error_code ignored;
  for (fs::directory_iterator at(directory, ignored), end; !ignored && at != end; at.increment(ignored)) {
    const std::string found = at->path().filename().string();
    if (found.starts_with(prefix) && is_temporary(found) &&
        (name.empty() || found.size() == prefix.size() + 2 * kRandomBytes)) {
      (void)remove_tree(at->path());
    }
  }
}

Result<void> make_directories(const fs::path& path) {
  // Usually all directories except the last exist.
  if (::mkdir(path.c_str(), 0777) == 0) {
    return {};
  }
  if (struct stat found{}; errno == EEXIST && ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) {
    return {};
  }
  fs::path made;
  for (const fs::path& part : path) {
    made /= part;
    if (part.empty() || ::mkdir(made.c_str(), 0777) == 0) {
      continue;
    }
    const int reason = errno;
    struct stat found {};
    if (::stat(made.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) {
      continue;
    }
    return system_failure("make the directory", made, reason);
  }
  return {};
}

bool is_inside(const std::filesystem::path& path, const std::filesystem::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first == directory.end();
}

}  // namespace modlock
