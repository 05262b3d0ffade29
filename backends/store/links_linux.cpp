#include "backends/store/links.h"

#include <fmt/ranges.h>

#include <sys/stat.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/package/tree_hash.h"
#include "backends/store/prune.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSeal = "sealed";
constexpr std::string_view kTree = "/tree";
constexpr std::size_t kDigits = 64;

bool is_content_key(std::string_view name) {
  const auto is_digest = [](std::string_view text) {
    return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  };
  return name.size() == 2 * kDigits + 1 && name[kDigits] == '-' && is_digest(name.substr(0, kDigits)) &&
         is_digest(name.substr(kDigits + 1));
}

fs::path record_of(const Store& store, const fs::path& data_directory) {
  return store.link_directory() / sha256_hex(data_directory.native());
}

}  // namespace

std::optional<Package> linked_package(const Store& store, const fs::path& place) {
  std::error_code error;
  const std::string target = fs::read_symlink(place, error).native();
  if (error || !target.starts_with('/') || !target.ends_with(kTree)) {
    return std::nullopt;
  }
  const std::size_t end = target.size() - kTree.size();
  const std::size_t slash = target.rfind('/', end - 1);
  const std::string name = target.substr(slash + 1, end - slash - 1);
  const fs::path packages = store.package_directory();
  const std::string parent = target.substr(0, slash);
  if (!is_content_key(name) || (parent != packages.native() && !fs::equivalent(parent, packages, error))) {
    return std::nullopt;
  }
  return Package{
      .id = {}, .h1 = {}, .modes = name.substr(kDigits + 1), .directory = packages / target.substr(slash + 1)};
}

bool is_sealed(const Package& package) {
  std::error_code ignored;
  return fs::is_regular_file(package.directory.parent_path() / kSeal, ignored);
}

std::vector<std::pair<fs::path, unsigned>> open_to_others(const Package& package) {
  const fs::path top = package.directory.parent_path();
  std::vector<std::pair<fs::path, unsigned>> found;
  const auto add = [&](const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0 && !S_ISLNK(status.st_mode) &&
        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
      found.emplace_back(path, status.st_mode & 07777U);
    }
  };
  add(top);
  std::error_code error;
  for (fs::recursive_directory_iterator at(top, error), end; !error && at != end; at.increment(error)) {
    add(at->path());
  }
  return found;
}

Result<void> seal(const Package& package) {
  for (const auto& [path, mode] : open_to_others(package)) {
    if (::chmod(path.c_str(), mode & ~unsigned{S_IWGRP | S_IWOTH}) != 0) {
      return system_failure("set the mode of", path, errno);
    }
  }
  MODLOCK_TRY(const auto entries, list_tree(package.directory));
  for (const TreeEntry& entry : entries) {
    const mode_t mode = (entry.mode & S_IXUSR) != 0 ? 0555 : 0444;
    if (entry.type == TreeEntry::Type::file && entry.mode != mode && ::chmod(entry.path.c_str(), mode) != 0) {
      return system_failure("set the mode of", entry.path, errno);
    }
  }
  // The cache may be read-only by now.
  return is_sealed(package) ? Result<void>()
                            : write_file_atomically(package.directory.parent_path() / kSeal, "", Durable::no);
}

Result<void> record_links(const Store& store, const fs::path& data_directory, std::set<std::string> planned) {
  std::set<std::string> packages = std::move(planned);
  MODLOCK_TRY(const auto places, list_directory(data_directory / "modules"));
  for (const fs::path& place : places) {
    if (const auto linked = linked_package(store, place)) {
      packages.insert(linked->directory.parent_path().filename().string());
    }
  }
  const fs::path record = record_of(store, data_directory);
  std::error_code error;
  if (packages.empty()) {
    return fs::remove(record, error) || !error ? Result<void>() : system_failure("remove", record, error.value());
  }
  const std::string text = fmt::format("{}\n", fmt::join(packages, "\n"));
  if (read_file(record).value_or("") == text) {
    touch(record);
    return {};
  }
  MODLOCK_TRY(store.make(store.link_directory()));
  return write_file_atomically(record, text, Durable::no);
}

Result<std::set<std::string>> recorded_links(const Store& store, fs::file_time_type now) {
  std::set<std::string> packages;
  MODLOCK_TRY(const auto records, list_directory(store.link_directory()));
  for (const fs::path& record : records) {
    std::error_code failed;
    const fs::file_time_type seen = fs::last_write_time(record, failed);
    if (!failed && now - seen > kUnseenRootIsGone) {
      fs::remove(record, failed);
      continue;
    }
    if (record.filename().string().starts_with('.')) {
      continue;  // an unfinished file of write_file_atomically()
    }
    const auto text = read_file(record);
    if (!text && text.error().code == Code::not_found) {
      continue;  // another process has removed it
    }
    MODLOCK_TRY(text);
    for (std::string& package : lines_of(*text)) {
      packages.insert(std::move(package));
    }
  }
  return packages;
}

}  // namespace modlock
