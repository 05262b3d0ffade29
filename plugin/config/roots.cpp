#include "plugin/config/roots.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>

#include "backends/base/files.h"
#include "plugin/config/config_files.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// The first part of a path that is a link. In a resolved path, this is a dangling link.
std::optional<fs::path> first_link(const fs::path& path) {
  fs::path at;
  for (const fs::path& name : path) {
    at /= name;
    std::error_code ignored;
    if (fs::is_symlink(fs::symlink_status(at, ignored))) {
      return at;
    }
  }
  return std::nullopt;
}

// Whether a normal path is below another without a link on its way from there. Then every link on the way to the bound
// is on the way to the path too, and nothing has to be resolved. Also false if this cannot be determined.
bool lies_plainly_in(const fs::path& path, const fs::path& bound) {
  if (!is_inside(path, bound)) {
    return false;
  }
  fs::path at = bound;
  for (auto part = std::next(path.begin(), std::distance(bound.begin(), bound.end())); part != path.end(); ++part) {
    at /= *part;
    std::error_code ignored;
    const fs::file_type type = fs::symlink_status(at, ignored).type();
    if (type == fs::file_type::not_found) {
      return true;
    }
    if (type == fs::file_type::none || type == fs::file_type::symlink) {
      return false;
    }
  }
  return true;
}

// Normalizes before links are followed, like OpenTofu: `link/..` is the directory of the link. Follows dangling links
// too, because a write through the link creates its target.
Result<fs::path> resolved(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as in Linux
  std::error_code error;
  fs::path result = fs::weakly_canonical(document_path(path), error);
  for (int links = 0; !error; ++links) {
    const auto link = first_link(result);
    if (!link) {
      return document_path(result);
    }
    const fs::path below = result.lexically_relative(*link);
    const fs::path target = fs::read_symlink(*link, error);
    if (links == kMostLinks) {
      error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
    }
    if (!error) {
      result = fs::weakly_canonical(link->parent_path() / target / below, error);
    }
  }
  return fail(Code::io_error, fmt::format("cannot resolve the path \"{}\": {}", path.string(), error.message()));
}

// The configuration of a checkout may have a token, which an error would quote.
bool enters_git(const fs::path& path, const fs::path& bound) {
  const fs::path inner = path.lexically_relative(bound);
  return std::find(inner.begin(), inner.end(), ".git") != inner.end();
}

}  // namespace

bool lies_plainly_below(const fs::path& path, const fs::path& bound) {
  const fs::path below = document_path(path);
  const fs::path above = document_path(bound);
  return below != above && lies_plainly_in(below, above);
}

fs::path find_repository_root(const fs::path& root) {
  const fs::path start = document_path(root);
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
    return document_path(document_path(root) / *named);
  }
  const fs::path directory = document_path(root) / ".terraform";
  auto inside = confine(directory, {root});
  if (!inside && inside.error().code == Code::path_outside_root) {
    return fail(
        Code::path_outside_root,
        fmt::format("the data directory \"{}\" is a link to a directory outside of the root", directory.string()),
        "name its target with --data-dir, dataDir or TF_DATA_DIR");
  }
  return inside;
}

Result<fs::path> confine(const fs::path& path, const std::vector<fs::path>& bounds) {
  const fs::path written = document_path(path);
  if (std::any_of(bounds.begin(), bounds.end(), [&](const fs::path& bound) {
        return lies_plainly_in(written, document_path(bound)) && !enters_git(written, document_path(bound));
      })) {
    return written;
  }
  const Result<fs::path> target = resolved(path);
  if (!target) {
    return target;
  }
  std::string named;
  bool is_of_git = false;
  for (const fs::path& bound : bounds) {
    const Result<fs::path> limit = resolved(bound);
    if (!limit) {
      return limit;
    }
    if (is_inside(*target, *limit) && !enters_git(*target, *limit)) {
      return written;
    }
    is_of_git = is_of_git || is_inside(*target, *limit);
    named += fmt::format("{}\"{}\"", named.empty() ? "" : " or ", document_path(bound).string());
  }
  if (is_of_git) {
    return fail(Code::path_outside_root, fmt::format("the path \"{}\" leads into a directory of git", written.string()),
                "use a file outside of it");
  }
  std::error_code ignored;
  return fail(Code::path_outside_root,
              fmt::format("the path \"{}\" is outside {}", written.string(), named.empty() ? "all bounds" : named),
              fs::is_symlink(path, ignored) ? fmt::format("allow the directory of its target: --workspace-root {}",
                                                          target->parent_path().string())
                                            : "start with a directory that encloses it, or move it inside");
}

std::filesystem::path find_unit_of_copy(const std::filesystem::path& path) {
  std::filesystem::path unit;
  for (const std::filesystem::path& part : path) {
    if (part == ".terragrunt-cache") {
      return unit;
    }
    unit /= part;
  }
  return {};
}

}  // namespace modlock
