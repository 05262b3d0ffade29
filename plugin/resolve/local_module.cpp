#include "plugin/resolve/local_module.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/config/config_files.h"
#include "plugin/config/roots.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

bool lies_inside(const fs::path& path, const fs::path& directory) {
  const auto [end, _] = std::mismatch(directory.begin(), directory.end(), path.begin(), path.end());
  return end == directory.end() || (std::next(end) == directory.end() && end->empty());
}

// Before links are followed.
fs::path named_directory(const ModuleNode& node, const ModuleNode& parent) {
  const fs::path named = (parent.directory / node.address.source.path).lexically_normal();
  return named.has_filename() ? named : named.parent_path();
}

// The deepest directory that is both, or above both.
fs::path enclosing_directory(const fs::path& one, const fs::path& other) {
  fs::path enclosing;
  const auto end = std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first;
  for (auto name = one.begin(); name != end; ++name) {
    enclosing /= *name;
  }
  return enclosing;
}

void resolve_links(ModuleNode& node, const fs::path& base) {
  std::error_code missing;
  const fs::path real_base = fs::canonical(base, missing);
  const fs::path below = fs::canonical(node.directory, missing).lexically_relative(real_base);
  if (missing || below.empty() || below == node.directory.lexically_relative(base)) {
    return;
  }
  node.directory = (base / below).lexically_normal();
  node.manifest_directory = join_relative(node.manifest_package, below.generic_string());
}

}  // namespace

void place_local_module(ModuleNode& node, const ModuleNode& parent, const fs::path& root) {
  node.directory = named_directory(node, parent);
  node.manifest_directory = join_relative(parent.manifest_directory, node.address.source.path);
  node.package_directory = parent.package_directory;
  node.manifest_package = parent.manifest_package;
  resolve_links(node, node.package_directory.empty() ? root : node.package_directory);
}

std::vector<fs::path> bounds_of(const ModuleNode& node, const std::vector<fs::path>& bounds) {
  if (!node.package_directory.empty()) {
    return {node.package_directory};
  }
  std::vector<fs::path> own = bounds;
  own.push_back(node.directory);
  return own;
}

Result<void> check_local_bounds(const ModuleNode& node, const ModuleNode& parent, const WalkRequest& request) {
  if (!node.package_directory.empty()) {
    if (lies_inside(node.directory, node.package_directory)) {
      return {};
    }
    return fail(
        Error{.code = Code::source_invalid,
              .message = fmt::format("the local source \"{}\" of module \"{}\" leads outside of the package that "
                                     "it is called from",
                                     node.call.source.text, node.key),
              .location = node.call.source.location,
              .hint = "call the other module by its own remote source address"});
  }
  auto confined = confine(node.directory, request.bounds);
  if (!confined && request.follows_local_sources) {
    const fs::path named = named_directory(node, parent);
    confined = confine(named, {enclosing_directory(named, request.root)});
  }
  if (confined) {
    return {};
  }
  if (confined.error().code != Code::path_outside_root) {
    return fail(Error{.code = confined.error().code,
                      .message = fmt::format("the local source \"{}\" of module \"{}\" cannot be followed",
                                             node.call.source.text, node.key),
                      .location = node.call.source.location,
                      .notes = {confined.error().message},
                      .hint = "repair the links and permissions on the way there"});
  }
  return fail(Error{
      .code = Code::path_outside_root,
      .message = fmt::format("the local source \"{}\" of module \"{}\" leads outside of the directories that "
                             "may be read",
                             node.call.source.text, node.key),
      .location = node.call.source.location,
      .hint = "allow the directory with --workspace-root or workspaceRoots, or move the module into the repository of "
              "the root"});
}

}  // namespace modlock
