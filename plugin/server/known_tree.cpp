#include "plugin/server/known_tree.h"

#include "plugin/install/package_lookup.h"

namespace modlock {

Result<ModuleTree> walk_known_modules(RootRequest& root, const LockFile& lock, const Service& service,
                                      const Context& context) {
  const auto manifest = read_manifest(root.data.manifest());
  if (!manifest) {
    return fail(manifest.error());
  }
  root.walk.installed = installed_directories(*manifest, root.walk.root);
  const auto visit = [&](std::span<ModuleNode* const> level) -> Result<void> {
    for (ModuleNode* node : level) {
      PlacedPackage package = known_package(*node, root.data, *manifest, lock, service.store(), context);
      node->package_directory = std::move(package.directory);
      node->package_subdir = std::move(package.subdir);
    }
    return {};
  };
  return walk_modules(root.walk, visit, context);
}

std::vector<std::string> unread_modules(const ModuleTree& tree) {
  std::vector<std::string> keys;
  for (const auto& [key, node] : tree.nodes) {
    if (!node.is_local() && node.directory.empty()) {
      keys.push_back(key);
    }
  }
  return keys;
}

}  // namespace modlock
