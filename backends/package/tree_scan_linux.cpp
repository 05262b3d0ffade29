#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <deque>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "backends/address/source_text.h"
#include "backends/base/deleter.h"
#include "backends/base/descriptor.h"
#include "backends/base/digest.h"
#include "backends/base/entry_name.h"
#include "backends/base/files.h"
#include "backends/package/tree_scan.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kPermissions = 0777;

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

FileStamp stamp_of(const struct stat& status) {
  return {.size = static_cast<std::uint64_t>(status.st_size),
          .inode = status.st_ino,
          .modified_ns = nanoseconds(status.st_mtim),
          .changed_ns = nanoseconds(status.st_ctim)};
}

tl::unexpected<Error> unsafe_entry(const std::string& name, std::string_view why) {
  return fail(Code::archive_unsafe, fmt::format("the entry \"{}\" of the package {}", escape_controls(name), why),
              "the package cannot be used as it is: ask its author to remove the entry");
}

using Directory = std::unique_ptr<DIR, Deleter<::closedir>>;

constexpr int kMostLinks = 40;  // the limit of Linux

tl::unexpected<Error> unsafe(const std::string& name, std::string_view why) {
  return fail(Code::archive_unsafe, fmt::format("the link \"{}\" of the package {}", escape_controls(name), why),
              "the package cannot be used as it is: ask its author to replace the link");
}

void put_before(std::deque<std::string>& way, std::string_view text) {
  std::vector<std::string_view> parts = split(text, '/');
  std::erase_if(parts, [](std::string_view part) { return part.empty() || part == "."; });
  way.insert(way.begin(), parts.begin(), parts.end());
}

// Follows a path through the package, one name at a time.
class Walk {
 public:
  Walk(const fs::path& root, const std::string& name) : root_(root), name_(name) { put_before(way_, name); }

  Result<LinkTarget> run() {
    while (!way_.empty()) {
      const std::string part = std::move(way_.front());
      way_.pop_front();
      MODLOCK_TRY(step(part));
    }
    return missing_ ? LinkTarget::nothing : at_file_ ? LinkTarget::file : LinkTarget::directory;
  }

 private:
  Result<void> step(const std::string& part) {
    if (at_file_) {
      missing_ = true;
    }
    if (part == "..") {
      if (inside_.empty()) {
        return unsafe(name_, "points outside it");
      }
      inside_.pop_back();
      return {};
    }
    inside_.push_back(part);
    if (missing_ || is_git_entry(part)) {
      missing_ = true;
      return {};
    }
    return look();
  }

  Result<void> look() {
    fs::path here = root_;
    for (const std::string& part : inside_) {
      here /= part;
    }
    std::error_code error;
    const fs::file_status status = fs::symlink_status(here, error);
    switch (status.type()) {
      case fs::file_type::directory:
        return {};
      case fs::file_type::regular:
        at_file_ = true;
        return {};
      case fs::file_type::not_found:
        missing_ = true;
        return {};
      case fs::file_type::symlink:
        return turn(here);
      case fs::file_type::none:
        return error == std::errc::filename_too_long ? unsafe(name_, "has a target that is too long")
                                                     : system_failure("read", here, error.value());
      default:
        return unsafe(name_, "points to a device, a pipe, or a socket");
    }
  }

  Result<void> turn(const fs::path& link) {
    std::error_code error;
    const std::string target = fs::read_symlink(link, error).string();
    if (error) {
      return system_failure("read the link", link, error.value());
    }
    if (!target.empty() && target.front() == '/') {
      return unsafe(name_, fmt::format("points to the absolute path \"{}\"", escape_controls(target)));
    }
    if (++links_ > kMostLinks) {
      return unsafe(name_, "points into a cycle of links");
    }
    inside_.pop_back();
    put_before(way_, target);
    return {};
  }

  const fs::path& root_;
  const std::string& name_;
  std::deque<std::string> way_;
  std::vector<std::string> inside_;  // the current path below root_
  int links_ = 0;
  bool at_file_ = false;
  bool missing_ = false;
};

class Scanner {
 public:
  Scanner(const fs::path& root, TreeRules rules) : root_(root), rules_(rules) {}

  Result<TreeScan> run() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    scan_.started_ns = nanoseconds(now);
    const Descriptor top(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!top.valid()) {
      return system_failure("read the directory", root_, errno);
    }
    // A list instead of recursion: a package may be deep, and each level would need an open descriptor.
    for (open_.emplace_back(); !open_.empty();) {
      const std::string prefix = std::move(open_.back());
      open_.pop_back();
      MODLOCK_TRY(list(top.get(), prefix));
    }
    std::ranges::sort(scan_.entries, {}, &ScannedEntry::name);
    std::ranges::sort(scan_.directories, {}, &ScannedDirectory::name);
    return std::move(scan_);
  }

 private:
  Result<void> list(int top, const std::string& prefix) {
    const auto unreadable = [&](int reason) {
      const fs::path shown = prefix.empty() ? root_ : root_ / prefix.substr(0, prefix.size() - 1);
      return system_failure("read the directory", shown, reason);
    };
    const int opened =
        ::openat(top, prefix.empty() ? "." : prefix.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const Directory directory(opened < 0 ? nullptr : ::fdopendir(opened));
    if (directory == nullptr) {
      const int reason = errno;
      if (opened >= 0) {
        ::close(opened);
      }
      return unreadable(reason);
    }
    struct stat status {};
    if (::fstat(opened, &status) != 0) {
      return unreadable(errno);
    }
    scan_.directories.push_back({prefix.substr(0, prefix.size() - (prefix.empty() ? 0 : 1)), stamp_of(status)});
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(directory.get());
      if (entry == nullptr) {
        return errno == 0 ? Result<void>() : unreadable(errno);
      }
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || (!is_provider() && is_git_entry(name))) {
        continue;
      }
      MODLOCK_TRY(add(opened, entry->d_name, prefix + std::string(name)));
    }
  }

  Result<void> add(int directory, const char* own_name, std::string name) {
    if (name.find('\n') != std::string::npos) {
      return unsafe_entry(name, "has a line ending in its name");
    }
    if (const auto disguised = is_provider() ? std::nullopt : disguised_name(own_name)) {
      return unsafe_entry(name, fmt::format(kDisguised, *disguised));
    }
    struct stat status {};
    if (::fstatat(directory, own_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return system_failure("read", root_ / name, errno);
    }
    switch (status.st_mode & S_IFMT) {
      case S_IFDIR:
        open_.push_back(std::move(name) + "/");
        return {};
      case S_IFREG:
        scan_.entries.push_back(
            {std::move(name), ScannedEntry::Type::file, stamp_of(status), status.st_mode & kPermissions});
        return {};
      case S_IFLNK:
        return is_provider() ? add_followed_link(directory, own_name, std::move(name)) : add_link(std::move(name));
      default:
        return unsafe_entry(name, "is a device, a pipe or a socket");
    }
  }

  Result<void> add_link(std::string name) {
    MODLOCK_TRY(const LinkTarget target, follow_link(root_, name));
    const bool is_content = target == LinkTarget::file;
    scan_.entries.push_back(
        {std::move(name), is_content ? ScannedEntry::Type::link_to_file : ScannedEntry::Type::link_as_text, {}, 0});
    return {};
  }

  Result<void> add_followed_link(int directory, const char* own_name, std::string name) {
    struct stat status {};
    if (::fstatat(directory, own_name, &status, 0) != 0) {
      return system_failure("follow the link", root_ / name, errno);
    }
    if (!S_ISREG(status.st_mode)) {
      return system_failure("read the target of the link", root_ / name, S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
    }
    scan_.entries.push_back({std::move(name), ScannedEntry::Type::link_to_file, {}, 0});
    return {};
  }

  bool is_provider() const { return rules_ == TreeRules::provider_package; }

  const fs::path& root_;
  const TreeRules rules_;
  std::vector<std::string> open_;  // directories still to read: "" or "a/b/"
  TreeScan scan_;
};

// Returns the pattern of fnmatch() for one of Go's path/filepath.Match, in which "!" and "[" of a set are characters.
std::string fnmatch_pattern(std::string_view pattern) {
  std::string out;
  bool in_set = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool is_escape = c == '\\' && i + 1 < pattern.size();
    const bool is_first = in_set && pattern[i - 1] == '[';
    out += in_set && (c == '[' || (c == '!' && is_first)) ? "\\" : "";
    out += c;
    if (is_escape) {
      out += pattern[++i];
    }
    in_set = in_set ? c != ']' : c == '[';
  }
  return out;
}

std::vector<fs::path> fitting_entries(const fs::path& package, const fs::path& below, const std::string& glob) {
  const std::string pattern = fnmatch_pattern(glob);
  std::vector<fs::path> fitting;
  std::error_code error;
  for (fs::directory_iterator at(package / below, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0 && at->is_directory(error)) {
      fitting.push_back(below / name);
    }
  }
  std::ranges::sort(fitting);
  return fitting;
}

}  // namespace

Result<TreeScan> scan_tree(const fs::path& root, TreeRules rules) {
  return Scanner(root, rules).run();
}

Result<OpenPackage> OpenPackage::open(const fs::path& root) {
  Descriptor directory(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) {
    return system_failure("read the directory", root, errno);
  }
  return OpenPackage(root, std::move(directory));
}

std::optional<FileStamp> OpenPackage::stamp(const char* name, Kind kind) const {
  struct stat status {};
  const bool is_there = ::fstatat(directory_.get(), *name == '\0' ? "." : name, &status, AT_SYMLINK_NOFOLLOW) == 0;
  const bool fits = is_there && (kind == Kind::file ? S_ISREG(status.st_mode) : S_ISDIR(status.st_mode));
  return fits ? std::optional(stamp_of(status)) : std::nullopt;
}

Result<HashedFile> OpenPackage::hash(const std::string& name) const {
  // Opening a pipe that has replaced the file must not block.
  const Descriptor file(::openat(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0) {
    return system_failure("read", root_ / name, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return system_failure("read", root_ / name, EINVAL);
  }
  HashedFile hashed{.sha256 = {}, .stamp = stamp_of(status)};
  MODLOCK_TRY(hashed.sha256, sha256_file(file.get(), root_ / name));
  return hashed;
}

Result<std::string> expand_subdir(const fs::path& package, const std::string& subdir) {
  if (subdir.find_first_of("*?[") == std::string::npos) {
    return subdir;
  }
  std::vector<fs::path> found = {fs::path()};
  for (const fs::path& pattern : fs::path(subdir)) {
    std::vector<fs::path> next;
    for (const fs::path& below : found) {
      const std::vector<fs::path> fitting = fitting_entries(package, below, pattern.string());
      next.insert(next.end(), fitting.begin(), fitting.end());
    }
    found = std::move(next);
  }
  if (found.empty()) {
    return fail(Code::not_found, fmt::format("no directory of the package matches \"{}\"", subdir));
  }
  if (found.size() > 1) {
    return fail(Code::source_invalid,
                fmt::format("\"{}\" matches more than one directory of the package: \"{}\" and \"{}\"", subdir,
                            found[0].generic_string(), found[1].generic_string()));
  }
  return found.front().generic_string();
}

Result<LinkTarget> follow_link(const fs::path& root, const std::string& name) {
  return Walk(root, name).run();
}

}  // namespace modlock
