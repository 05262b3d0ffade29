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
  const std::string& path = node.address.source.path;
  node.directory = (parent.directory / path).lexically_normal();
  if (!node.directory.has_filename()) {
    node.directory = node.directory.parent_path();
  }
  node.manifest_directory = join_relative(parent.manifest_directory, path);
  node.package_directory = parent.package_directory;
  node.manifest_package = parent.manifest_package;
  resolve_links(node, node.package_directory.empty() ? root : node.package_directory);
}

std::vector<fs::path> bounds_of(const ModuleNode& node, const std::vector<fs::path>& bounds) {
  return node.package_directory.empty() ? bounds : std::vector<fs::path>{node.package_directory};
}

Result<void> check_local_bounds(const ModuleNode& node, const std::vector<fs::path>& bounds) {
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
  const auto confined = confine(node.directory, bounds);
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
  return fail(
      Error{.code = Code::path_outside_root,
            .message = fmt::format("the local source \"{}\" of module \"{}\" leads outside of the directories that "
                                   "may be read",
                                   node.call.source.text, node.key),
            .location = node.call.source.location,
            .hint = "name the directory in workspaceRoots, or keep the module inside the repository of the root"});
}

}  // namespace modlock
