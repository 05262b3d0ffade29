#include "plugin/functions/file_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "backends/base/home.h"
#include "plugin/functions/function_tables.h"

namespace modlock::eval {
namespace {

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) {
      parts.push_back(path.substr(0, end));
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

std::string joined(const std::vector<std::string_view>& parts) {
  std::string path;
  for (const std::string_view part : parts) {
    path += path.empty() ? "" : "/";
    path += part;
  }
  return path;
}

}  // namespace

std::string clean_path(std::string_view path) {
  const bool is_absolute = path.starts_with('/');
  std::vector<std::string_view> kept;
  for (const std::string_view part : parts_of(path)) {
    if (part == ".." && !kept.empty() && kept.back() != "..") {
      kept.pop_back();
    } else if (part != "." && !(part == ".." && is_absolute)) {
      kept.push_back(part);
    }
  }
  if (is_absolute) {
    return '/' + joined(kept);
  }
  return kept.empty() ? "." : joined(kept);
}

std::string join_path(std::string_view base, std::string_view path) {
  if (base.empty() || path.empty()) {
    return base.empty() && path.empty() ? "" : clean_path(base.empty() ? path : base);
  }
  return clean_path(std::string(base) + '/' + std::string(path));
}

std::string base_name(std::string_view path) {
  if (path.empty()) {
    return ".";
  }
  const auto parts = parts_of(path);
  return parts.empty() ? "/" : std::string(parts.back());
}

std::string directory_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return clean_path(slash == std::string_view::npos ? "" : path.substr(0, slash + 1));
}

std::string relative_path(std::string_view base, std::string_view path) {
  const std::string clean_base = clean_path(base);
  const std::string clean = clean_path(path);
  const auto from = parts_of(clean_base == "." ? "" : std::string_view(clean_base));
  const auto to = parts_of(clean == "." ? "" : std::string_view(clean));
  const auto fork = std::mismatch(from.begin(), from.end(), to.begin(), to.end());
  std::vector<std::string_view> way(static_cast<std::size_t>(from.end() - fork.first), "..");
  way.insert(way.end(), fork.second, to.end());
  return way.empty() ? "." : joined(way);
}

tl::expected<std::string, std::string> expand_home(const std::string& path) {
  if (!path.starts_with('~')) {
    return path;
  }
  if (path.size() > 1 && path[1] != '/' && path[1] != '\\') {
    return tl::unexpected(std::string("cannot expand user-specific home dir"));
  }
  const std::string home = home_directory().string();
  if (home.empty()) {
    return tl::unexpected(std::string("the home directory is not known"));
  }
  return join_path(home, path.substr(1));
}

tl::expected<std::string, FunctionError> read_file(const Call& call) {
  const std::string& given = call.arguments[0].as_string();
  const auto path = expand_home(given);
  if (!path) {
    return refuse_argument(0, fmt::format("failed to expand ~: {}", path.error()));
  }
  auto bytes = call.files.read(*path);
  if (bytes) {
    return *std::move(bytes);
  }
  if (bytes.error().code == Code::not_found) {
    return refuse_argument(
        0, fmt::format("no file exists at {}; this function works only with files that are distributed as part of the "
                       "configuration source code, so if this file will be created by a resource in this configuration "
                       "you must instead obtain this result from an attribute of that resource",
                       shown(call, given)));
  }
  return tl::unexpected(file_error(call, bytes.error()));
}

FunctionError file_error(const Call& call, const Error& error) {
  return {.argument = 0,
          .message = call.may_show_arguments ? error.message : "the file (sensitive value) cannot be read",
          .code = error.code};
}

}  // namespace modlock::eval
