#include "backends/base/entry_name.h"

#include <dirent.h>
#include <sys/stat.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "backends/base/ascii.h"
#include "backends/base/deleter.h"

namespace modlock {
namespace {

constexpr std::array<std::string_view, 5> kTrusted = {".git", ".terraform", ".terraform.lock.hcl",
                                                      ".terraform.modules.lock.hcl", ".tofu-modlock.hcl"};

}  // namespace

std::string fold(std::string_view name) {
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_CASEFOLD | UTF8PROC_DECOMPOSE | UTF8PROC_IGNORE | UTF8PROC_STABLE);
  utf8proc_uint8_t* read = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(name.data()),
                                   static_cast<utf8proc_ssize_t>(name.size()), &read, options);
  const std::unique_ptr<utf8proc_uint8_t, Deleter<std::free>> freed(read);
  return length < 0 ? ascii::lower(name)  // not UTF-8
                    : std::string(reinterpret_cast<const char*>(read), static_cast<std::size_t>(length));
}

bool is_git_entry(std::string_view name) {
  return name == ".git";
}

std::optional<std::string_view> disguised_name(std::string_view name) {
  std::string_view rest = name;
  while (!rest.empty()) {
    std::string_view part = rest.substr(0, rest.find('\\'));  // which separates names on Windows
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    // NTFS has streams after ":", and drops spaces and dots at the end.
    part = part.substr(0, part.find(':'));
    part = part.substr(0, part.find_last_not_of(" .") + 1);
    if (part.empty() || (std::string_view(".gG").find(part[0]) == std::string_view::npos && ascii::is_ascii(part[0]))) {
      continue;
    }
    const std::string read = fold(part);
    const auto found = read == "git~1" ? kTrusted.begin() : std::ranges::find(kTrusted, read);
    if (found != kTrusted.end() && name != *found) {
      return *found;
    }
  }
  return std::nullopt;
}

bool folds_case(const std::filesystem::path& path) {
  std::string other = path.filename().string();
  std::ranges::transform(other, other.begin(),
                         [](char c) { return ascii::is_lower(c) ? ascii::to_upper(c) : ascii::to_lower(c); });
  std::error_code ignored;
  return std::filesystem::exists(path.parent_path() / other, ignored);
}

std::optional<std::string> name_on_disk(const std::filesystem::path& path) {
  struct stat found {};
  const std::string parent = path.has_parent_path() ? path.parent_path().string() : ".";
  const std::unique_ptr<DIR, Deleter<::closedir>> directory(::opendir(parent.c_str()));
  if (directory == nullptr || ::lstat(path.c_str(), &found) != 0) {
    return std::nullopt;
  }
  std::optional<std::string> other;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (path.filename() == entry->d_name) {
      return std::nullopt;
    }
    if (entry->d_ino == found.st_ino) {
      other = entry->d_name;
    }
  }
  return other;
}

}  // namespace modlock
