#include "plugin/engine/offline_tree.h"

#include "plugin/engine/plan_request.h"
#include "plugin/install/package_lookup.h"
#include "protocol/base/result.h"

namespace modlock {

Result<ModuleTree> walk_offline_modules(RootRequest& root, const OpenRoot& open) {
  const LockFile lock = effective_lock(open.lock);
  MODLOCK_TRY(const auto manifest, read_manifest(root.data.manifest()));
  root.walk.installed = installed_directories(manifest, root.walk.root);
  KnownPackages known;
  const auto visit = [&](std::span<ModuleNode* const> level) -> Result<void> {
    for (ModuleNode* node : level) {
      LocalPackage package =
          locked_package(*node, root.data, manifest, lock, open.engine().store(), known, open.context);
      node->package_directory = std::move(package.directory);
      node->package_subdir = std::move(package.subdir);
    }
    return {};
  };
  return walk_modules(root.walk, visit, open.context);
}

Result<ModuleTree> walk_locked_modules(OpenRoot& open, Diagnostics* skipped) {
  auto tree = walk_offline_modules(open.root, open);
  if (!tree || unread_modules(*tree).empty()) {
    return tree;
  }
  PlanRequest request = frozen_plan(open);
  request.skipped = skipped;
  auto plan = make_plan(request, open.fetcher(), open.context);
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
