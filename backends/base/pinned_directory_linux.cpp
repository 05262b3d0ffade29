#include "backends/base/pinned_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "backends/base/files.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

tl::unexpected<Error> cannot_open(const fs::path& directory, int reason) {
  // With O_DIRECTORY and O_NOFOLLOW the system says ENOTDIR of a link.
  return reason == ELOOP || reason == ENOTDIR || reason == EXDEV
             ? fail(Code::io_error,
                    fmt::format("cannot open the directory \"{}\": a part of the path is no directory, or a link",
                                directory.string()),
                    "another process may have replaced it; remove the link and run the same command again")
             : system_failure("open the directory", directory, reason);
}

// One component after the other; what is missing is made if `makes`.
Result<Descriptor> walk(Descriptor at, const fs::path& base, const fs::path& relative, bool makes) {
  fs::path reached = base;
  for (const fs::path& part : relative) {
    if (part.empty() || part == ".") {
      continue;
    }
    reached /= part;
    if (part == ".." || part.is_absolute()) {
      return cannot_open(reached, EXDEV);
    }
    const auto open_part = [&] { return Descriptor(::openat(at.get(), part.c_str(), kFlags | O_NOFOLLOW)); };
    Descriptor next = open_part();
    if (!next.valid() && errno == ENOENT && makes) {
      if (::mkdirat(at.get(), part.c_str(), 0777) != 0 && errno != EEXIST) {
        return system_failure("make the directory", reached, errno);
      }
      next = open_part();
    }
    if (!next.valid()) {
      return cannot_open(reached, errno);
    }
    at = std::move(next);
  }
  return at;
}

Result<Descriptor> open_below(const fs::path& base, const fs::path& relative, bool makes) {
  Descriptor top(::open(base.c_str(), kFlags));
  if (!top.valid()) {
    return system_failure("open the directory", base, errno);
  }
  struct open_how how {};
  how.flags = kFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  const std::string name = relative.empty() ? "." : relative.string();
  Descriptor opened(static_cast<int>(::syscall(SYS_openat2, top.get(), name.c_str(), &how, sizeof how)));
  if (opened.valid()) {
    return opened;
  }
  // Older kernels do not have the call, and some containers forbid it: the result is the same part by part.
  const bool is_missing_call = errno == ENOSYS || errno == EPERM || errno == EAGAIN;
  if (is_missing_call || (errno == ENOENT && makes)) {
    return walk(std::move(top), base, relative, makes);
  }
  return cannot_open(base / relative, errno);
}

void replace_prefix(std::string& text, const std::string& prefix, const std::string& by) {
  const auto ends_name = [&](std::size_t at) { return at >= text.size() || text[at] < '0' || text[at] > '9'; };
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    if (ends_name(at + prefix.size())) {
      text.replace(at, prefix.size(), by);
      at += by.size();
    } else {
      at += prefix.size();
    }
  }
}

}  // namespace

PinnedDirectory::PinnedDirectory(Descriptor descriptor, fs::path real_path)
    : descriptor_(std::move(descriptor)),
      real_path_(std::move(real_path)),
      path_(fmt::format("/proc/self/fd/{}", descriptor_.get())) {
  struct stat held {};
  struct stat named {};
  const bool leads_here = ::fstat(descriptor_.get(), &held) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                          held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  if (!leads_here) {
    path_ = real_path_;
  }
}

Result<PinnedDirectory> PinnedDirectory::open(const fs::path& base, const fs::path& relative) {
  MODLOCK_TRY(auto opened, open_below(base, relative, false));
  return PinnedDirectory(std::move(opened), relative.empty() ? base : base / relative);
}

Result<PinnedDirectory> PinnedDirectory::open_or_make(const fs::path& base, const fs::path& relative) {
  MODLOCK_TRY(auto opened, open_below(base, relative, true));
  return PinnedDirectory(std::move(opened), relative.empty() ? base : base / relative);
}

Result<PinnedDirectory> PinnedDirectory::make(const std::string& name) const {
  const fs::path made = real_path_ / name;
  if (::mkdirat(descriptor_.get(), name.c_str(), S_IRWXU) != 0) {
    return system_failure("make the directory", made, errno);
  }
  Descriptor opened(::openat(descriptor_.get(), name.c_str(), kFlags | O_NOFOLLOW));
  return opened.valid() ? Result<PinnedDirectory>(PinnedDirectory(std::move(opened), made)) : cannot_open(made, errno);
}

Error PinnedDirectory::with_real_path(Error error) const {
  if (path_ == real_path_) {
    return error;
  }
  const std::string& from = path_.native();
  const std::string& to = real_path_.native();
  replace_prefix(error.message, from, to);
  std::string hint = error.hint;
  replace_prefix(hint, from, to);
  error.hint = std::move(hint);
  for (std::string& note : error.notes) {
    replace_prefix(note, from, to);
  }
  if (error.location) {
    replace_prefix(error.location->path, from, to);
  }
  return error;
}

}  // namespace modlock
