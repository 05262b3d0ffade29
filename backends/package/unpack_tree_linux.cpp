#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "backends/base/entry_name.h"
#include "backends/base/files.h"
#include "backends/package/unpack_tree.h"
#include "protocol/base/result.h"

namespace modlock::unpack {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t kOwner = S_IRUSR | S_IWUSR | S_IXUSR;

std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::pair(std::string(), path)
                                    : std::pair(path.substr(0, slash), path.substr(slash + 1));
}

tl::unexpected<Error> cannot_make(std::string_view display, const std::filesystem::path& directory,
                                  const std::string& path, int reason) {
  // Rules reject duplicate names: if the name exists anyway, this file system folds case or normalizes names.
  return reason == EEXIST && !name_on_disk(directory / path)
             ? unsafe_entry(display, path, "has a name that this file system treats as another entry's name")
             : system_failure("write", directory / path, reason);
}

}  // namespace

Result<void> NewFile::write(std::string_view bytes) {
  hash_.update(bytes);
  const int reason = write_all(file_.get(), bytes);
  return reason == 0 ? Result<void>() : system_failure("write", path_, reason);
}

Result<void> NewFile::end(unsigned mode, FileDigests& digests) {
  const Descriptor file = std::move(file_);
  if (::fchmod(file.get(), (mode & 0777U) | S_IRUSR) != 0) {
    return system_failure("set the mode of", path_, errno);
  }
  digests.emplace(path_.string(), hash_.finish());
  return {};
}

Result<TreeWriter> TreeWriter::open(const std::filesystem::path& directory) {
  // The directory itself belongs to the caller and may be a link.
  Descriptor root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) {
    return system_failure("open the directory", directory, errno);
  }
  return TreeWriter(directory, std::move(root));
}

Result<int> TreeWriter::enter(std::string_view path) {
  const bool is_on_the_way =
      !at_.empty() && path.substr(0, at_.size()) == at_ && (path.size() == at_.size() || path[at_.size()] == '/');
  if (!is_on_the_way) {
    at_.clear();
    here_.reset();
  }
  while (at_.size() < path.size()) {
    const std::size_t begin = at_.empty() ? 0 : at_.size() + 1;
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part(path.substr(begin, end - begin));
    Descriptor next(::openat(here_.valid() ? here_.get() : root_.get(), part.c_str(), kDirectory));
    if (!next.valid()) {
      return system_failure("open the directory", directory_ / path, errno);
    }
    here_ = std::move(next);
    at_ = path.substr(0, end);
  }
  return here_.valid() ? here_.get() : root_.get();
}

Result<void> TreeWriter::make_directories(const Place& place, std::string_view display) {
  for (const std::string& path : place.directories) {
    const auto [parent, name] = split(path);
    MODLOCK_TRY(const auto within, enter(parent));
    if (::mkdirat(within, name.c_str(), 0755) != 0) {
      return cannot_make(display, directory_, path, errno);
    }
  }
  return {};
}

Result<NewFile> TreeWriter::make_file(const Place& place, std::string_view display) {
  const auto [parent, name] = split(place.path);
  MODLOCK_TRY(const auto within, enter(parent));
  Descriptor file(
      ::openat(within, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.valid()) {
    return cannot_make(display, directory_, place.path, errno);
  }
  return NewFile(directory_ / place.path, std::move(file));
}

void TreeWriter::set_mode(const Place& directory, unsigned mode) {
  if (!directory.path.empty()) {
    modes_[directory.path] = mode;
  }
}

Result<void> TreeWriter::end() {
  for (const auto& entry : modes_) {
    MODLOCK_TRY(const auto directory, enter(entry.first));
    if (::fchmod(directory, (entry.second & 0777U) | kOwner) != 0) {
      return system_failure("set the mode of", directory_ / entry.first, errno);
    }
  }
  return {};
}

}  // namespace modlock::unpack
