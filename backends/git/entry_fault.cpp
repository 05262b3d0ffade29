#include "backends/git/entry_fault.h"

#include <git2.h>
#include <git2/sys/path.h>

#include <algorithm>
#include <string>

namespace modlock::git {
namespace {

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestPath = 4000;  // leaves room below PATH_MAX

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

// HFS+ passes over these code points: U+200C to U+200F, U+202A to U+202E, U+206A to U+206F, U+FEFF.
bool is_ignored_by_hfs(std::string_view three) {
  const auto last = static_cast<unsigned char>(three[2]);
  if (three.substr(0, 2) == "\xe2\x80") {
    return (last >= 0x8C && last <= 0x8F) || (last >= 0xAA && last <= 0xAE);
  }
  return (three.substr(0, 2) == "\xe2\x81" && last >= 0xAA && last <= 0xAF) || three == "\xef\xbb\xbf";
}

std::string as_hfs_reads(std::string_view name) {
  std::string read;
  for (std::size_t i = 0; i < name.size();) {
    if (i + 3 <= name.size() && is_ignored_by_hfs(name.substr(i, 3))) {
      i += 3;
    } else {
      read += name[i++];
    }
  }
  return read;
}

// NTFS drops spaces and dots at the end of a name, has streams behind ":" and short names, and "\\" separates.
bool is_git_on_ntfs(std::string_view lower) {
  while (true) {
    const std::size_t end = std::min(lower.find('\\'), lower.size());
    std::string_view part = lower.substr(0, end);
    part = part.substr(0, part.find(':'));
    part = part.substr(0, part.find_last_not_of(" .") + 1);
    if (part == ".git" || part == "git~1") {
      return true;
    }
    if (end == lower.size()) {
      return false;
    }
    lower.remove_prefix(end + 1);
  }
}

bool is_git_directory(std::string_view name) {
  const std::string lower = lower_case(name);
  return is_git_on_ntfs(lower) || as_hfs_reads(lower) == ".git";
}

}  // namespace

std::string_view entry_fault(std::string_view path, std::string_view name, bool is_link) {
  constexpr std::string_view kForbidden = "which no checkout may write";
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos ||
      is_git_directory(name)) {
    return kForbidden;
  }
  if (is_link && git_path_is_gitfile(name.data(), name.size(), GIT_PATH_GITFILE_GITMODULES, GIT_PATH_FS_GENERIC) != 0) {
    return kForbidden;
  }
  if (name.size() > kLongestName) {
    return "whose name is longer than 255 bytes";
  }
  return path.size() > kLongestPath ? "whose path is longer than 4000 bytes" : "";
}

}  // namespace modlock::git
