#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <vector>

#include "backends/package/subdir_glob.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

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

}  // namespace modlock
