#include "plugin/engine/open_root.h"

#include <utility>

#include "plugin/engine/engine.h"
#include "plugin/engine/plan_request.h"
#include "plugin/install/manifest.h"
#include "plugin/install/package_lookup.h"
#include "protocol/base/result.h"

namespace modlock {

OpenRoot::OpenRoot(const Engine& engine, Run& run, RootRequest opened)
    : root(std::move(opened)), context(engine.context_for(run, root.walk.settings)), engine_(engine), run_(run) {
  context.clone_directory = root.data.modules() / "m";
}

Result<std::unique_ptr<OpenRoot>> OpenRoot::open(const Engine& engine, Run& run, const messages::RootParams& root,
                                                 const messages::LockParams& lock, Merging merging) {
  MODLOCK_TRY(auto request, open_root(root, engine, run));
  run.documents = request.walk.documents;
  std::unique_ptr<OpenRoot> opened(new OpenRoot(engine, run, std::move(request)));
  MODLOCK_TRY(take_unlocked_sources(opened->root, engine, opened->context));
  MODLOCK_TRY(opened->lock, open_lock(opened->root, lock, merging == Merging::yes ? &opened->context : nullptr));
  return opened;
}

Result<void> OpenRoot::read_lock_again() {
  root.walk.documents.read = run_.texts = std::make_shared<ReadTexts>();
  MODLOCK_TRY(lock, open_lock(root, {}));
  return {};
}

const Network& OpenRoot::network() {
  if (network_ == nullptr) {
    network_ = engine_.network(root.implementation.tool, root.implementation.version, run_);
  }
  return *network_;
}

SourceFetcher& OpenRoot::fetcher() {
  if (!fetcher_) {
    fetcher_.emplace(network().backends(), engine_.store(), context, run_.began());
  }
  return *fetcher_;
}

BundleReader* OpenRoot::bundle() {
  if (bundle_ == nullptr && engine_.remote()) {
    bundle_ = read_repository(*engine_.remote(), BundleReader::Role::store);
  } else if (bundle_ == nullptr) {
    bundle_ =
        std::make_unique<BundleReader>(BundleReader::Options{.modules = effective_lock(lock).modules}, engine_.store());
  }
  return bundle_.get();
}

ModuleLocks OpenRoot::allowed_entries() const {
  ModuleLocks modules = effective_lock(lock).modules;
  std::erase_if(modules, [&](const auto& entry) {
    return !check_source_allowed(root.walk.settings, entry.second.source).has_value();
  });
  return modules;
}

std::unique_ptr<BundleReader> OpenRoot::read_repository(const oci::Repository& repository, BundleReader::Role role) {
  std::function<Result<std::unique_ptr<Bundle>>()> open_it;
  if (role == BundleReader::Role::named || !context.offline) {
    open_it = [this, repository, requests = context] {
      return open_repository(network().oci_registry(), repository, requests, BundleTimes{});
    };
  }
  return std::make_unique<BundleReader>(
      BundleReader::Options{
          .open = std::move(open_it),
          .name = repository.display,
          .tag = closure_tag(effective_lock(lock).modules),
          .role = role,
          .modules = allowed_entries(),
          .is_down = &(role == BundleReader::Role::store ? run_.remote_is_down() : run_.bundle_is_down())},
      engine_.store());
}

void OpenRoot::check_sources() {
  context.check_source = source_judge(root.walk.settings);
}

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
