#include "plugin/config/roots.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Absolute and lexically normal, without a trailing slash.
fs::path normal(const fs::path& path) {
  std::error_code ignored;
  fs::path absolute = fs::absolute(path, ignored);
  if (absolute.empty()) {
    absolute = path;
  }
  absolute = absolute.lexically_normal();
  return absolute.has_filename() || absolute == absolute.root_path() ? absolute : absolute.parent_path();
}

bool lies_in(const fs::path& path, const fs::path& bound) {
  const auto mismatch = std::mismatch(bound.begin(), bound.end(), path.begin(), path.end());
  return mismatch.first == bound.end();
}

// Normalised before links are followed, as OpenTofu joins paths: `link/..` is where the link stands.
Result<fs::path> resolved(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(normal(path), error);
  if (error) {
    return fail(Code::io_error, fmt::format("cannot resolve the path \"{}\": {}", path.string(), error.message()));
  }
  return normal(result);
}

}  // namespace

fs::path find_repository_root(const fs::path& root) {
  const fs::path start = normal(root);
  for (fs::path directory = start;; directory = directory.parent_path()) {
    std::error_code ignored;
    if (fs::exists(directory / ".git", ignored)) {
      return directory;
    }
    if (directory == directory.parent_path()) {
      return start;
    }
  }
}

Result<fs::path> data_directory(const fs::path& root, const std::optional<fs::path>& named) {
  if (named) {
    return normal(normal(root) / *named);
  }
  const fs::path directory = normal(root) / ".terraform";
  auto inside = confine(directory, {root});
  if (!inside && inside.error().code == Code::path_outside_root) {
    return fail(Code::path_outside_root,
                fmt::format("the data directory \"{}\" is a link that leads out of the root", directory.string()),
                "name the directory it leads to with --data-dir, dataDir or TF_DATA_DIR");
  }
  return inside;
}

Result<fs::path> confine(const fs::path& path, const std::vector<fs::path>& bounds) {
  const Result<fs::path> target = resolved(path);
  if (!target) {
    return target;
  }
  std::string named;
  for (const fs::path& bound : bounds) {
    const Result<fs::path> limit = resolved(bound);
    if (!limit) {
      return limit;
    }
    if (lies_in(*target, *limit)) {
      return normal(path);
    }
    named += fmt::format("{}\"{}\"", named.empty() ? "" : " or ", normal(bound).string());
  }
  return fail(
      Code::path_outside_root,
      fmt::format("the path \"{}\" lies outside {}", normal(path).string(), named.empty() ? "all bounds" : named),
      "start with a directory that encloses it, or move it inside");
}

}  // namespace modlock
