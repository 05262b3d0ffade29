#include "plugin/engine/open_root.h"

#include <utility>

#include "plugin/engine/engine.h"
#include "plugin/engine/plan_request.h"
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

}  // namespace modlock
