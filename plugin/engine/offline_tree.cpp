#include "plugin/engine/offline_tree.h"

#include "plugin/engine/plan_request.h"
#include "plugin/install/package_lookup.h"
#include "protocol/base/result.h"

namespace modlock {

Result<ModuleTree> walk_offline_modules(RootRequest& root, const LockFile& lock, const Engine& engine,
                                        const Context& context) {
  MODLOCK_TRY(const auto manifest, read_manifest(root.data.manifest()));
  root.walk.installed = installed_directories(manifest, root.walk.root);
  KnownPackages known;
  const auto visit = [&](std::span<ModuleNode* const> level) -> Result<void> {
    for (ModuleNode* node : level) {
      LocalPackage package = locked_package(*node, root.data, manifest, lock, engine.store(), known, context);
      node->package_directory = std::move(package.directory);
      node->package_subdir = std::move(package.subdir);
    }
    return {};
  };
  return walk_modules(root.walk, visit, context);
}

Result<ModuleTree> walk_locked_modules(OpenRoot& open, const Engine& engine, Diagnostics* skipped) {
  auto tree = walk_offline_modules(open.root, effective_lock(open.lock), engine, open.context);
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
