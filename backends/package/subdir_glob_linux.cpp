#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <vector>

#include "backends/package/subdir_glob.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> fitting_entries(const fs::path& package, const fs::path& below, const std::string& pattern) {
  std::vector<fs::path> fitting;
  std::error_code error;
  for (fs::directory_iterator at(package / below, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0 && at->is_directory(error)) {
      fitting.push_back(below / name);
    }
  }
  std::sort(fitting.begin(), fitting.end());
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
