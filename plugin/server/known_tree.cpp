#include "plugin/server/known_tree.h"

#include "plugin/install/package_lookup.h"
#include "plugin/server/plan_request.h"

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
      PlacedPackage package = locked_package(*node, root.data, *manifest, lock, service.store(), context);
      node->package_directory = std::move(package.directory);
      node->package_subdir = std::move(package.subdir);
    }
    return {};
  };
  return walk_modules(root.walk, visit, context);
}

Result<ModuleTree> walk_locked_modules(RootRequest& root, const LockDocument& lock, Origin& origin,
                                       const Service& service, const Context& context) {
  auto tree = walk_known_modules(root, effective_lock(lock), service, context);
  if (!tree || unread_modules(*tree).empty()) {
    return tree;
  }
  PlanRequest request = frozen_plan(root, lock, context);
  auto plan = make_plan(request, origin, context);
  return plan ? Result<ModuleTree>(std::move(plan->tree)) : fail(std::move(plan.error()));
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
